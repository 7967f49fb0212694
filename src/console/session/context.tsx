import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { Client } from '#client/index.ts';
import { clientOf, covers, type Session, type SessionKey } from './session.ts';

const SessionContext = createContext<Session | null>(null);

interface SessionProviderProps {
  readonly session: Session;
  readonly children: ComponentChildren;
}

export const SessionProvider = ({ session, children }: SessionProviderProps): JSX.Element => (
  <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('No session: sign in first.');
  return session;
}

/** The key that the pages below act with, or the place where a person does. */
export interface Access {
  readonly key: SessionKey;
  readonly client: Client;
  /** Whether the key has the scope, such as `environment:logs:read`: what it has not is not offered. */
  readonly can: (scope: string) => boolean;
  /** Path of a page of the same environment, or of the account: `/connections`. */
  readonly path: (page: string) => string;
}

const AccessContext = createContext<Access | null>(null);

interface AccessProviderProps {
  readonly access: Access;
  readonly children: ComponentChildren;
}

export const AccessProvider = ({ access, children }: AccessProviderProps): JSX.Element => (
  <AccessContext.Provider value={access}>{children}</AccessContext.Provider>
);

export function useAccess(): Access {
  const access = useContext(AccessContext);
  if (access === null) throw new Error('No key is chosen here.');
  return access;
}

/** Access with a key of the session; null without one. */
export function useAccessOf(key: SessionKey | null): Access | null {
  const session = useSession();
  return useMemo(
    () =>
      key === null
        ? null
        : {
            key,
            client: clientOf(session, key),
            can: (scope) => covers(key, scope),
            path: (page) => `${sectionOf(key)}${page}`,
          },
    [session, key],
  );
}

/** First part of the paths of the pages of a key. */
export const sectionOf = ({ environment }: SessionKey): string =>
  environment === null ? '/account' : `/env/${encodeURIComponent(environment.name)}`;

export const accountKeyOf = ({ keys }: Session): SessionKey | null =>
  keys.find(({ kind }) => kind === 'account') ?? null;

export const environmentKeysOf = ({ keys }: Session): SessionKey[] =>
  keys.filter(({ kind }) => kind === 'environment');
