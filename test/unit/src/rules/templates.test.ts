import { describe, expect, it } from 'vitest';
import { templateDefinitions } from '#bin/template-definitions.ts';
import { limits } from '#kernel/limits.ts';
import { sourceOfTemplate } from '#modules/functions/templates/templates.ts';
import { templateProviders, templatesOf, type TemplateDefinition } from '#rules/templates.ts';

const root = new URL('../../../..', import.meta.url).pathname;
const templates = templateProviders().flatMap((provider) => templatesOf(provider));

describe('the templates of the box', () => {
  it('have names that are unique in their provider', () => {
    const names = templates.map(({ provider, name }) => `${provider}/${name}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('fit into the order of a deployment, which is one message', () => {
    const sizes = templates.map((template) => {
      const { code, imports } = sourceOfTemplate(template);
      const bytes = Buffer.byteLength(code + Object.values(imports).join(''));
      return { file: template.file, bytes };
    });
    const tooLarge = sizes.filter(({ bytes }) => bytes > limits.deploymentSourceBytesMax);
    expect(tooLarge).toEqual([]);
  });

  it('ask for changes alone where they read the newest first, until what they have', () => {
    const tickets = templates.find(({ file }) => file === 'gorgias-basic/syncs/tickets.ts');
    expect(tickets?.sync).toMatchObject({ isIncremental: true });
  });

  it('say in their text what their definitions say', async () => {
    const definitions = JSON.parse(await templateDefinitions(root)) as Readonly<
      Record<string, TemplateDefinition>
    >;
    const ofText = templates.map(({ file, description, version, scopes, needsMetadata }) => {
      return [file, { description, version, scopes, needsMetadata }] as const;
    });
    const ofDefinitions = Object.entries(definitions).map(([file, one]) => {
      const { description, version, scopes, metadata } = one;
      return [file, { description, version, scopes, needsMetadata: metadata !== null }] as const;
    });
    expect(Object.fromEntries(ofText)).toEqual(Object.fromEntries(ofDefinitions));
  });
});
