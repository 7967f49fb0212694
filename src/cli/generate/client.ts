import { quoted, typeOf } from '#json-schema/typescript.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';

/** A deployed function, as far as its types go. */
interface TypedFunction {
  readonly name: string;
  readonly description?: string | undefined;
  /** The definition of the input of an action. */
  readonly input?: string | undefined;
  /** The definitions of the models of a sync, or of the output of an action. */
  readonly returns?: readonly string[] | undefined;
  readonly json_schema?: unknown;
}

interface TypedIntegration {
  readonly providerConfigKey: string;
  readonly syncs: readonly TypedFunction[];
  readonly actions: readonly TypedFunction[];
}

/** The source of a client whose records and actions have the types of the deployed functions. */
export function clientText(integrations: readonly TypedIntegration[], module: string): string {
  const references = new References();
  const members = integrations.map((integration) => {
    const { providerConfigKey: key, syncs, actions } = integration;
    const parts = [
      ...block('models', modelsOf(syncs, references)),
      ...block(
        'actions',
        actions.map((action) => actionText(action, references)),
      ),
    ];
    return [`  readonly ${quoted(key)}: {`, ...parts.map((line) => `    ${line}`), '  };'].join(
      '\n',
    );
  });
  return `/* eslint-disable -- written by \`svc generate client\`; do not edit */
import { createTypedClient, type ClientOptions, type TypedClient } from ${quoted(module)};

/** The models and actions of each integration, from the deployed functions. */
export type Deployed = {
${members.join('\n')}
};
${references.text()}
/** A client of the gateway that knows them. */
export const createSvcClient = (options: ClientOptions): TypedClient<Deployed> =>
  createTypedClient<Deployed>(options);
`;
}

const block = (name: string, lines: readonly string[]): string[] =>
  lines.length === 0
    ? [`readonly ${name}: {};`]
    : [`readonly ${name}: {`, ...lines.map((line) => `  ${line}`), '};'];

/** A model that several syncs save may have several shapes. */
function modelsOf(syncs: readonly TypedFunction[], references: References): string[] {
  const models = new Map<string, Set<string>>();
  for (const { returns = [], json_schema: schema } of syncs) {
    for (const model of returns) {
      const types = models.get(model) ?? new Set();
      models.set(model, types.add(references.typeAt(schema, model)));
    }
  }
  return [...models].map(([model, types]) => {
    const [type = 'unknown', ...others] = types;
    const shape =
      others.length === 0 ? type : [type, ...others].map((one) => `(${one})`).join(' | ');
    return `readonly ${quoted(model)}: ${shape};`;
  });
}

function actionText(action: TypedFunction, references: References): string {
  const { name, description, input, returns, json_schema: schema } = action;
  const [output] = returns ?? [];
  const comment = description === undefined ? '' : `/** ${commentText(description)} */ `;
  const typeOfDefinition = (definition: string | undefined): string =>
    definition === undefined ? 'unknown' : references.typeAt(schema, definition);
  return `${comment}readonly ${quoted(name)}: { readonly input: ${typeOfDefinition(input)}; readonly output: ${typeOfDefinition(output)} };`;
}

/** On one line, and not the end of the comment. */
const commentText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('*/', String.raw`*\/`)
    .trim();

/** The types that schemas refer to, each with a name: they may refer to themselves. */
class References {
  readonly #names = new Map<unknown, Map<string, string>>();
  readonly #types: string[] = [];
  #count = 0;

  /** The type of a definition of the document. */
  typeAt(document: unknown, definition: string): string {
    const schema = pointed(document, ['definitions', definition]);
    return schema === null ? 'unknown' : this.#typeOf(schema, document);
  }

  text(): string {
    return this.#types.map((type) => `\n${type}\n`).join('');
  }

  #typeOf(schema: JsonObject, document: unknown): string {
    return typeOf(schema, (reference) => this.#nameOf(reference, document));
  }

  /** `#/definitions/Contact/definitions/__schema0`; a reference out of the document has no type. */
  #nameOf(reference: string, document: unknown): string {
    const names = this.#names.get(document) ?? new Map<string, string>();
    this.#names.set(document, names);
    const existing = names.get(reference);
    if (existing !== undefined) return existing;
    const [first, ...path] = reference.split('/');
    const schema = first === '#' ? pointed(document, path.map(unescaped)) : null;
    if (schema === null) return 'unknown';
    this.#count += 1;
    const name = `Shape${this.#count}`;
    names.set(reference, name);
    this.#types.push(`type ${name} = ${this.#typeOf(schema, document)};`);
    return name;
  }
}

/** As JSON Pointer has it. */
const unescaped = (step: string): string =>
  decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');

function pointed(document: unknown, path: readonly string[]): JsonObject | null {
  const found = path.reduce<Json | undefined>(
    (at, step) => (isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined),
    document as Json,
  );
  return isJsonObject(found) ? objectOf(found) : null;
}
