/** The parts of a URL that functions read and set: a host call on one side, properties on the other. */
export const urlParts = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;
