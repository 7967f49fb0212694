import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { functionName, jsonObject } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { data, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import { templateDefinition, type Template, type TemplateDefinition } from '#rules/templates.ts';
import { functionKinds } from '../functions/function.ts';
import { defineRoute } from '../services.ts';
import { providerTemplates, requireTemplate } from './templates.ts';

const kind = z.enum(functionKinds);

type DefinedTemplate = Template & TemplateDefinition;

const rows = {
  name: z.string().meta({ description: 'Name of the template.', examples: ['contacts'] }),
  type: [kind.describe('Kind of the function.'), (one: DefinedTemplate) => one.kind],
  provider: z.string().meta({ examples: ['hubspot'] }),
  version: z.string().describe('Version of the template.'),
  description: z.string().describe('What the function does.'),
  scopes: z
    .array(z.string())
    .describe('Scopes that the function needs at the provider.')
    .meta({ examples: [['crm.objects.contacts.read']] }),
  metadata: jsonObject
    .nullable()
    .describe('JSON Schema of the metadata that a connection needs; null: none.')
    .meta({ examples: [null] }),
  returns: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('Names of the models of the records or of the output.'),
  input: z.string().optional().describe('Name of the model of the input of an action.'),
  json_schema: jsonObject
    .optional()
    .describe('JSON Schemas of its models, for an integration with the name of the provider.'),
  runs: z.string().optional(),
  auto_start: z.boolean().optional(),
  incremental: [
    z.boolean().optional().describe('Whether a run of the sync asks for changes alone.'),
    ({ sync }: DefinedTemplate) => sync?.isIncremental,
  ],
  deletions: [
    z
      .enum(['every_run', 'runs_from_start', 'none'])
      .optional()
      .describe(
        'Which runs of the sync find deleted documents: each, those from the start, or none, where the API deletes nothing or does not report it.',
      ),
    ({ sync }: DefinedTemplate) => sync?.deletions,
  ],
  event: z.string().optional().describe('Event that starts an on-event function.'),
  documentation: z
    .array(z.string())
    .describe("Pages of the provider's documentation that it follows."),
} as const;

const shown = representation<DefinedTemplate>()(rows);
const templateShape = shown.schema.meta({ id: 'Template' });

const fileShape = z.strictObject({
  path: z
    .string()
    .describe('Path in a project of functions.')
    .meta({ examples: ['hubspot/syncs/contacts.ts'] }),
  content: z.string().describe('Text of the file.'),
});
const shownWithFiles = representation<DefinedTemplate>()({
  ...rows,
  files: [
    z.array(fileShape).describe('Its files, the function first: what it imports, fixtures, test.'),
    ({ files }: DefinedTemplate) => files.map(({ path, text }) => ({ path, content: text })),
  ],
});
const templateWithFilesShape = shownWithFiles.schema.meta({ id: 'TemplateWithFiles' });

const defined = (template: Template): DefinedTemplate => ({
  ...template,
  ...templateDefinition(template),
});

const ofProvider = z.strictObject({ provider: z.string().max(255) });

const listTemplates = defineRoute({
  method: 'GET',
  path: '/providers/{provider}/templates',
  credential: 'environment',
  scopes: [],
  summary: 'List the templates of a provider.',
  description:
    'Functions that work when they are added: `svc add` copies one into a project, and `POST /functions/deployments` deploys one.',
  params: ofProvider,
  answers: {
    200: json('The templates: syncs, actions, on-event functions.', data(z.array(templateShape))),
  },
  errors: ['not_found'],
  async handle({ params: { provider }, services }) {
    requireProvider(services.providers, provider);
    const templates = providerTemplates(provider);
    return { status: 200, body: { data: templates.map((one) => shown.of(defined(one))) } };
  },
});

const getTemplate = defineRoute({
  method: 'GET',
  path: '/providers/{provider}/templates/{name}',
  credential: 'environment',
  scopes: [],
  summary: 'Get a template with its files.',
  params: ofProvider.extend({ name: functionName.describe('Name of the template.') }),
  answers: { 200: json('The template.', data(templateWithFilesShape)) },
  errors: ['not_found', 'template_not_found'],
  async handle({ params: { provider, name }, services }) {
    requireProvider(services.providers, provider);
    const template = requireTemplate(provider, name);
    return { status: 200, body: { data: shownWithFiles.of(defined(template)) } };
  },
});

/** @throws GatewayError `not_found` */
function requireProvider(providers: ProviderCatalogue, name: string): void {
  if (providers.find(name) !== null) return;
  throw new GatewayError('not_found', {
    message: `The provider "${name}" is not in the catalog.`,
    fix: 'Look the name up with GET /providers.',
  });
}

export const templateRoutes: readonly AnyRoute[] = [listTemplates, getTemplate];
