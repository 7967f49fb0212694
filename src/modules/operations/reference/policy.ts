/** Content security policy of every page of the documentation: nothing inline, no other host. */
export const sitePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
] as const;
