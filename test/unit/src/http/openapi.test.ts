import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { endpoints as api, routes, streamRoutes } from '#api/routes.ts';
import { codeOf, statusOf } from '#http/define-route.ts';
import { openapiDocument } from '#http/openapi/document.ts';
import { draft2020 } from '#test/support/judges/json-schema.ts';

interface Described {
  readonly description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly items?: Described;
  readonly additionalProperties?: Described | boolean;
}
interface Media {
  readonly schema: object;
  readonly example?: unknown;
}
interface Body {
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly schema: Described;
  }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body & { readonly $ref?: string }>>;
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Body>>;
    readonly schemas: Readonly<Record<string, Described>>;
    readonly securitySchemes: object;
  };
}

let document: Document;
let ajv: Ajv2020;
/** By the schema in the document: operations share their refusals. */
const validators = new Map<object, ValidateFunction>();
beforeAll(async () => {
  const made = await openapiDocument(api, {
    version: '1.2.3',
    publicUrl: 'https://gateway.example.com',
  });
  document = JSON.parse(JSON.stringify(made)) as Document;
  ajv = draft2020();
  ajv.addSchema(document, 'openapi');
});

const operationOf = (method: string, path: string): Operation =>
  document.paths[path]![method.toLowerCase()]!;

function responseOf(operation: Operation, status: number): Body | undefined {
  const found = operation.responses[String(status)];
  if (found?.$ref === undefined) return found;
  return document.components.responses[found.$ref.split('/').at(-1)!];
}

const endpoints = [
  ...routes.map(({ method, path, errors, credential }) => ({ method, path, errors, credential })),
  ...streamRoutes.flatMap(({ methods, path, errors, credential }) =>
    methods.map((method) => ({ method, path, errors, credential })),
  ),
];

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('has no schema from which generators make clients that do not compile', () => {
    const problems: string[] = [];
    const look = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const schema = value as Readonly<Record<string, unknown>>;
      const { anyOf, type, format, maximum } = schema;
      const types = Array.isArray(anyOf)
        ? anyOf.map((one) => (one as { type?: unknown }).type)
        : [];
      if (types.length === 2 && typeof types[0] === 'string' && types[1] === 'null')
        problems.push(`${path}: anyOf with null`);
      const isInteger = type === 'integer' || (Array.isArray(type) && type.includes('integer'));
      if (isInteger && !(Number(maximum) <= 2 ** 31 - 1) && format !== 'int64')
        problems.push(`${path}: an integer without a size`);
      if (typeof schema['$ref'] === 'string' && 'properties' in schema)
        problems.push(`${path}: properties beside a reference`);
      // Headers of responses have no types in clients.
      const members = Object.entries(schema).filter(([name]) => name !== 'headers');
      for (const [name, member] of members) look(member, `${path}/${name}`);
    };
    look(document, '#');
    expect(problems).toEqual([]);
  });

  it('has each operation once by its id', () => {
    const ids = endpoints.map(({ method, path }) => operationOf(method, path).operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '%s has a summary, who may call it, its parameters, its errors and examples that fit',
    (_name, { method, path, errors, credential }) => {
      const operation = operationOf(method, path);
      expect(operation.summary).toMatch(/^\p{Lu}.*\.$/u);
      expect(operation.security.length > 0).toBe(credential !== 'none');
      for (const scheme of operation.security.flatMap(Object.keys)) {
        expect(document.components.securitySchemes).toHaveProperty(scheme);
      }
      const named = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      for (const error of errors) {
        const text = JSON.stringify(responseOf(operation, statusOf(error)));
        expect(text).toContain(`"${codeOf(error)}"`);
      }
      expectExamples(operation);
    },
  );
});

function expectExamples(operation: Operation): void {
  const statuses = Object.keys(operation.responses).filter((status) => status !== 'default');
  const bodies = [
    ...(operation.requestBody ? [operation.requestBody] : []),
    ...statuses.map((status) => responseOf(operation, Number(status))!),
  ];
  const media = bodies.flatMap(({ content }) => {
    const found = content?.['application/json'];
    return found ? [found] : [];
  });
  for (const { schema, example } of media) {
    expect(example).toBeDefined();
    const validate = validators.get(schema) ?? compiled(schema);
    validators.set(schema, validate);
    const isFitting = validate(example);
    const problem = `${JSON.stringify(example)}: ${ajv.errorsText(validate.errors)}`;
    expect(isFitting, problem).toBe(true);
  }
}

function compiled(schema: object): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/');
  return ajv.compile(JSON.parse(text) as object);
}

describe('the words of the OpenAPI document', () => {
  it('describe every operation, parameter, field and response', () => {
    const nameless: string[] = [];
    const need = (where: string, { description, $ref: reference }: Described): void => {
      const named = document.components.schemas[reference?.split('/').at(-1) ?? ''];
      if ((description ?? named?.description ?? '') === '') nameless.push(where);
    };
    const fieldsOf = (where: string, schema: Described): void => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        need(`${where}.${name}`, field);
        fieldsOf(`${where}.${name}`, field);
      }
      const { anyOf = [], oneOf = [], items, additionalProperties } = schema;
      for (const part of [...anyOf, ...oneOf, items, additionalProperties]) {
        if (typeof part === 'object') fieldsOf(where, part);
      }
    };
    const bodiesOf = (where: string, { content = {} }: Body): void =>
      Object.values(content).forEach(({ schema }) => fieldsOf(where, schema));
    for (const tag of document.tags) need(tag.name, tag);
    for (const [name, schema] of Object.entries(document.components.schemas))
      fieldsOf(name, schema);
    for (const { method, path } of endpoints) {
      const operation = operationOf(method, path);
      const where = `${method} ${path}`;
      need(where, operation);
      for (const parameter of operation.parameters) {
        need(`${where} ${parameter.name}`, parameter);
        fieldsOf(`${where} ${parameter.name}`, parameter.schema);
      }
      bodiesOf(where, operation.requestBody ?? {});
      for (const [status, response] of Object.entries(operation.responses)) {
        if (response.$ref === undefined) need(`${where} ${status}`, response);
        bodiesOf(`${where} ${status}`, response);
      }
    }
    expect(nameless).toEqual([]);
  });

  it('stand once: each name that has a description is one of a field or parameter', () => {
    const text = JSON.stringify(document);
    const names = Object.keys(api.fieldNames.descriptions);
    expect(
      names.filter((name) => !text.includes(`"${name}":`) && !text.includes(`"name":"${name}"`)),
    ).toEqual([]);
  });

  it('group the operations: each tag has some', () => {
    const used = new Set(endpoints.flatMap(({ method, path }) => operationOf(method, path).tags));
    expect(document.tags.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });

  it('pass the rules of redocly.yaml', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-openapi-lint-'));
    try {
      const file = join(folder, 'openapi.json');
      await writeFile(file, JSON.stringify(document));
      const args = ['lint', file, '--config', 'redocly.yaml', '--format', 'json'];
      const env = {
        ...process.env,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      };
      const child = spawn('node_modules/.bin/redocly', args, { env });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
      await once(child, 'close');
      const { totals, problems } = JSON.parse(output) as { totals: object; problems: unknown };
      expect(problems).toEqual([]);
      expect(totals).toMatchObject({ errors: 0, warnings: 0 });
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 60_000);
});
