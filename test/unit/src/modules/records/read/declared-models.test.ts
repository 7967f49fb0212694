import { expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import { requireModel } from '#modules/records/read/declared-models.ts';
import type { PageQuery } from '#modules/records/read/reader.ts';

type Deps = Parameters<typeof requireModel>[0];

/** @param streams variants of which there are records */
function depsOf(synced: readonly string[], streams: readonly string[] = [], deployed?: string) {
  let isCaughtUp = false;
  const find = () => {
    const late = isCaughtUp && deployed !== undefined ? [deployed] : [];
    const names = [...synced, ...late];
    return { all: new Set(['Output', ...names]), synced: names };
  };
  const page = ({ stream }: PageQuery) =>
    Promise.resolve({ records: 0, hasStream: streams.includes(stream.variant) });
  const caughtUp = async () => void (isCaughtUp = true);
  return {
    declaredModels: { find, variantsOf: () => ['base', 'eu'] },
    records: { reader: { page } },
    control: { view: { caughtUp } },
  } as unknown as Deps;
}

const streamOf = (model: string, variant = 'base') =>
  ({ environmentUid: 'e', connectionUid: 'u', integration: 'crm', model, variant }) as Stream;

async function refusalOf(model: string, deps: Deps): Promise<string | null> {
  try {
    await requireModel(deps, streamOf(model, 'us'));
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.code).toBe('invalid_query_params');
    return error.details.errors?.[0]?.message ?? '';
  }
}

it.each([
  ['a sync declares', 'Contact', depsOf(['Contact'])],
  ['another function declares', 'Output', depsOf(['Contact'])],
  ['the connection has records of', 'Removed', depsOf(['Contact'], ['us'])],
  ['the connection has records of in the base variant', 'Removed', depsOf([], ['base'])],
  ['the connection has records of in the variant of a sync', 'Removed', depsOf([], ['eu'])],
  ['was deployed a moment ago', 'Deal', depsOf(['Contact'], [], 'Deal')],
])('a model is accepted that %s', async (_what, model, deps) => {
  expect(await refusalOf(model, deps)).toBeNull();
});

it.each([
  ['Contcat', 'Contact'],
  ['Contacts', 'Contact'],
  ['contact', 'Contact'],
  ['CONTACT', 'Contact'],
  ['Compnay', 'Company'],
  ['Itme', 'Item'],
  ['Xy', null],
  ['Opportunity', null],
])('of %s it suggests %s', async (model, near) => {
  const message = await refusalOf(model, depsOf(['Company', 'Contact', 'Item']));
  expect(/Did you mean "(.*)"/.exec(message ?? '')?.[1] ?? null).toBe(near);
});

it('lists twenty models, and how many more there are', async () => {
  const names = Array.from({ length: 500 }, (_, at) => `Model${at}`);
  const message = await refusalOf('Model499x', depsOf(names));
  expect(message).toContain(`It declares ${names.slice(0, 20).join(', ')} and 480 more.`);
  expect(message).toContain('Did you mean "Model499"?');
  expect(message?.length).toBeLessThan(1000);
});

it('says that there is no sync', async () => {
  expect(await refusalOf('Contact', depsOf([]))).toBe(
    'No function of the integration "crm" declares the model "Contact": it has no sync.',
  );
});
