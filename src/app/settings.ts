/** One setting: where it comes from, what it means, whether it is secret. */
export interface Setting<T> {
  readonly variable: string;
  /** Text used when the variable is not set; null = no value. */
  readonly default: string | null;
  readonly doc: string;
  readonly isSecret?: boolean;
  /** @throws Error with what is expected. */
  readonly parse: (text: string) => T;
}

type Value<S> =
  S extends Setting<infer T> ? T | (S extends { default: null } ? null : never) : never;
export type Settings<Table> = { readonly [Name in keyof Table]: Value<Table[Name]> };

/** Every wrong variable with what it should be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table holds settings of every type
type AnySetting = Setting<any>;

/** @throws ConfigError that lists every wrong variable, not only the first. */
export function parseSettings<Table extends Readonly<Record<string, AnySetting>>>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
): Settings<Table> {
  const mistakes: string[] = [];
  const values = Object.entries(table).map(([name, setting]) => {
    const text = env[setting.variable] || setting.default;
    if (text === null) return [name, null];
    try {
      return [name, setting.parse(text) as unknown];
    } catch (error) {
      mistakes.push(`${setting.variable}: ${error instanceof Error ? error.message : 'not valid'}`);
      return [name, null];
    }
  });
  if (mistakes.length > 0) throw new ConfigError(`Wrong settings:\n  ${mistakes.join('\n  ')}`);
  return Object.fromEntries(values) as Settings<Table>;
}

export const text = (value: string): string => value;

export function integer(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < min || number > max) {
      throw new Error(`expected a whole number from ${min} to ${max}, got "${value}"`);
    }
    return number;
  };
}

/** A URL of one of the schemes; `embedded:` needs nothing after it. */
export function address(...schemes: readonly string[]) {
  return (value: string): string => {
    const scheme = value.split(':', 1)[0] ?? '';
    if (!schemes.includes(scheme) || !value.includes(':')) {
      const expected = schemes.map((name) => `${name}:…`).join(' or ');
      throw new Error(`expected ${expected}, got "${withoutCredentials(value)}"`);
    }
    if (scheme.startsWith('http') && !URL.canParse(value)) {
      throw new Error(`"${withoutCredentials(value)}" is not a URL`);
    }
    return value;
  };
}

/** For messages: what stands between the scheme and the last `@` may be a password. */
function withoutCredentials(value: string): string {
  return value.replace(/\/\/.*@/s, '//');
}

/** A name that can stand in a statement or a path as it is. */
export function plainName(value: string): string {
  if (!/^[A-Za-z_][\w.-]*$/.test(value)) {
    throw new Error(`expected letters, digits, "_", "." and "-", got "${value}"`);
  }
  return value;
}

export function oneOf<const T extends string>(...allowed: readonly T[]) {
  return (value: string): T => {
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw new Error(`expected ${allowed.join(', ')}, got "${value}"`);
    return found;
  };
}

export const list = (value: string): readonly string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
