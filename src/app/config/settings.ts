import { CannotStart } from '#kernel/cannot-start.ts';

/** One setting: its variable, meaning, parser, and whether it is secret. */
export interface Setting<T> {
  readonly variable: string;
  /** Text used when the variable is not set; null = no value. */
  readonly default: string | null;
  readonly doc: string;
  readonly isSecret?: boolean;
  /** The displayable part of a value that contains a secret. */
  readonly shown?: (text: string) => string;
  /** @throws Error that names the expected form */
  readonly parse: (text: string) => T;
}

type Value<S> =
  S extends Setting<infer T> ? T | (S extends { default: null } ? null : never) : never;
export type Settings<Table> = { readonly [Name in keyof Table]: Value<Table[Name]> };

// oxlint-disable-next-line typescript/no-explicit-any -- a table holds settings of every type
type AnySetting = Setting<any>;

type AnyTable = Readonly<Record<string, AnySetting>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** A rule across settings. Checked only if each of `uses` is valid by itself. */
export interface Rule<Values> {
  readonly uses: readonly (keyof Values)[];
  /** The problem with its fix, or null. */
  readonly problem: (values: Values) => string | null;
}

/** @throws CannotStart with a line for every wrong variable and every broken rule, not only the first. */
export function parseSettings<Table extends AnyTable>(
  table: Table,
  env: Environment,
  rules: readonly Rule<Settings<Table>>[] = [],
): Settings<Table> {
  const mistakes: string[] = [];
  const wrong = new Set<keyof Table>();
  const parsed = Object.entries(table).map(([name, setting]) => {
    const text = settingText(setting, env);
    if (text === null) return [name, null];
    try {
      return [name, setting.parse(text) as unknown];
    } catch (error) {
      wrong.add(name);
      mistakes.push(`${setting.variable}: ${error instanceof Error ? error.message : 'not valid'}`);
      return [name, null];
    }
  });
  const values = Object.fromEntries(parsed) as Settings<Table>;
  for (const { uses, problem } of rules) {
    const found = uses.some((name) => wrong.has(name)) ? null : problem(values);
    if (found !== null) mistakes.push(found);
  }
  if (mistakes.length > 0) throw new CannotStart(mistakes.join('\n'));
  return values;
}

/** The displayable value of every setting, by variable: secrets are masked, null = not set. */
export function shownSettings(table: AnyTable, env: Environment): Record<string, string | null> {
  return Object.fromEntries(
    Object.values(table).map((setting) => {
      const text = settingText(setting, env);
      if (text === null) return [setting.variable, null];
      if (setting.isSecret === true) return [setting.variable, '[set]'];
      return [setting.variable, setting.shown?.(text) ?? text];
    }),
  );
}

/** Those of `shownSettings` that the environment sets. */
export function setSettings(table: AnyTable, env: Environment): Record<string, string | null> {
  const all = Object.entries(shownSettings(table, env));
  return Object.fromEntries(all.filter(([variable]) => (env[variable] ?? '') !== ''));
}

const settingText = (setting: AnySetting, env: Environment): string | null =>
  env[setting.variable] || setting.default;

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

/** A share from 0 to 1. */
export function ratio(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 1)) {
    throw new Error(`expected a number from 0 to 1, got "${value}"`);
  }
  return number;
}

/** A name that needs no escaping in a statement or a path. */
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
