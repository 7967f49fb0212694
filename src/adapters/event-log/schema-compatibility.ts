import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import avro, { type Schema, type Type } from 'avsc';
import { GatewayError } from '#kernel/errors.ts';

/**
 * FULL_TRANSITIVE: every version of a subject reads what every other version wrote. A new field has a default, a
 * removed field had one, and no type changes. Stricter than Avro, which accepts reading bytes as text and
 * microseconds as milliseconds.
 * Run as a script, it checks every file of `schemas/` against its released versions: `schemas/released/<path
 * without .avsc>/<release>.avsc`.
 */

const parse = (definition: string): Type => avro.Type.forSchema(JSON.parse(definition) as Schema);

/** Incompatibilities of two versions; empty when they are compatible. */
export function incompatibilities(definition: string, other: string): string[] {
  return [
    ...unreadable('the new version cannot read the earlier one', definition, other),
    ...unreadable('the earlier version cannot read the new one', other, definition),
    ...changedTypes(JSON.parse(definition), JSON.parse(other)),
  ];
}

/** @throws GatewayError `incompatible_schema` that names every reason */
export function mustBeCompatible(
  subject: string,
  definition: string,
  earlier: readonly string[],
): void {
  let reasons: string[];
  try {
    parse(definition);
    reasons = earlier.flatMap((one) => incompatibilities(definition, one));
  } catch (error) {
    reasons = [`it is not an Avro schema: ${messageOf(error)}`];
  }
  if (reasons.length === 0) return;
  const message = `The schema of ${subject} breaks FULL_TRANSITIVE: ${[...new Set(reasons)].join('; ')}.`;
  throw new GatewayError('incompatible_schema', { message });
}

function unreadable(what: string, reader: string, writer: string): string[] {
  try {
    parse(reader).createResolver(parse(writer));
    return [];
  } catch (error) {
    return [`${what} (${messageOf(error)})`];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function changedTypes(schema: unknown, other: unknown): string[] {
  const before = leafTypes(other);
  return [...leafTypes(schema)].flatMap(([path, type]) => {
    const former = before.get(path);
    return former === undefined || former === type ? [] : [`${path} was ${former} and is ${type}`];
  });
}

/** The type, logical where there is one, at the end of each path of fields. */
function leafTypes(schema: unknown, path = '', found = new Map<string, string>()) {
  if (typeof schema === 'string') {
    if (schema !== 'null') found.set(path, JSON.stringify(schema));
  } else if (Array.isArray(schema)) {
    const branches = schema.filter((branch) => branch !== 'null');
    branches.forEach((branch, i) => {
      leafTypes(branch, branches.length === 1 ? path : `${path}|${i}`, found);
    });
  } else if (typeof schema === 'object' && schema !== null) {
    const { type, logicalType, fields, items, values } = schema as Record<string, unknown>;
    if (Array.isArray(fields)) {
      for (const { name, type: inner } of fields as { name: string; type: unknown }[]) {
        leafTypes(inner, `${path}.${name}`, found);
      }
    } else if (type === 'array' || type === 'map') {
      leafTypes(type === 'array' ? items : values, `${path}[]`, found);
    } else if (typeof type === 'object') leafTypes(type, path, found);
    else found.set(path, JSON.stringify(logicalType ?? type));
  }
  return found;
}

/** Errors in the schema files of a folder, one line each. */
export function checkSchemas(folder: URL): string[] {
  const root = fileURLToPath(folder);
  const files = globSync('**/*.avsc', { cwd: root }).filter((file) => !file.startsWith('released'));
  return files.sort().flatMap((file) => {
    const definition = readFileSync(new URL(file, folder), 'utf8');
    try {
      mustBeCompatible(file, definition, releasedVersions(folder, file));
    } catch (error) {
      return [messageOf(error)];
    }
    const { doc } = JSON.parse(definition) as { doc?: unknown };
    return typeof doc === 'string' && doc !== '' ? [] : [`The schema of ${file} has no doc.`];
  });
}

function releasedVersions(folder: URL, file: string): string[] {
  const versions = new URL(`released/${file.replace(/\.avsc$/, '')}/`, folder);
  if (!existsSync(versions)) return [];
  const names = globSync('*.avsc', { cwd: fileURLToPath(versions) });
  return names.sort().map((name) => readFileSync(new URL(name, versions), 'utf8'));
}

if (import.meta.main) {
  const faults = checkSchemas(new URL('../../../schemas/', import.meta.url));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
