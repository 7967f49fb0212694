import type { authModes, SchemaOutput } from './schema-parts.ts';
import type { definitionSchema, field } from './schema.ts';

export type AuthMode = (typeof authModes)[number];

/** One entry of the catalog with its name (docs/reference/provider-format.md#top-level-fields). */
export type Provider = { readonly name: string } & SchemaOutput<typeof definitionSchema>;

/** A field of a connection or its credentials (docs/reference/provider-format.md#field-schemas). */
export type FieldSchema = SchemaOutput<typeof field>;

/** The same with its texts in one language. */
export type LocalizedField = Omit<
  FieldSchema,
  'title' | 'description' | 'enum_titles' | 'warnings'
> & {
  readonly title: string;
  readonly description: string;
  readonly enum_titles?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
};

export type ProxyDefinition = NonNullable<Provider['proxy']>;
export type PaginateDefinition = NonNullable<ProxyDefinition['paginate']>;
export type RetryDefinition = NonNullable<ProxyDefinition['retry']>;

/** How a provider's tokens are signed by this service (docs/reference/auth-modes.md#jwt). */
export type SigningRules = NonNullable<Provider['signature']>;

/** A token to sign; its values are templates. */
export type TokenTemplate = NonNullable<Provider['token']>;

/** One call of a token exchange of several (docs/reference/auth-modes.md#two_step). */
export type TokenStep = NonNullable<Provider['additional_steps']>[number];

/** One step of the lookup after connecting (docs/reference/provider-format.md#lookup-after-connecting). */
export type LookupStep = NonNullable<Provider['connection_lookup']>[number];
export type ChosenItem = NonNullable<LookupStep['item']>;
