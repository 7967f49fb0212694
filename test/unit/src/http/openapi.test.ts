import { Validator } from '@seriousme/openapi-schema-validator';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { openapiDocument } from '../../../../src/http/openapi/document.ts';
import { endpoints as api, routes, streamRoutes } from '../../../../src/api/routes.ts';
import { codeOf, statusOf } from '../../../../src/http/define-route.ts';
import { draft2020 } from '../../../support/json-schema.ts';

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}
interface Body {
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body & { readonly $ref?: string }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Body>>;
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
