/** Scopes of keys for common uses (docs/reference/http.md#scopes). */
export const profiles = {
  auth: ['environment:connect_sessions:write'],
  deploy: ['environment:deploy'],
  backend: [
    'environment:connections:read',
    'environment:records:read',
    'environment:actions:execute',
    'environment:syncs:execute',
    'environment:proxy',
  ],
} as const satisfies Record<string, readonly string[]>;

export type Profile = keyof typeof profiles;
export const profileNames = Object.keys(profiles) as [Profile, ...Profile[]];
