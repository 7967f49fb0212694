import { describe, expect, it } from 'vitest';
import { deployedFunction, type DeployedParts } from '#modules/functions/functions/function.ts';
import { given } from '#test/support/judges/given.ts';

const parts = (more: Partial<DeployedParts> = {}): DeployedParts => ({
  environmentUid: 'e1',
  integrationKey: 'crm',
  kind: 'sync',
  name: 'contacts',
  description: '',
  version: '1',
  bundle: '',
  source: '',
  contentHash: 'h1',
  models: ['Contact'],
  jsonSchema: {},
  inputModel: null,
  scopes: [],
  features: [],
  frequency: 'every hour',
  autoStart: false,
  trackDeletes: false,
  syncType: 'full',
  webhookSubscriptions: [],
  event: null,
  ...more,
});
const deploy = (more: Partial<DeployedParts> = {}) =>
  ({ type: 'Deploy', parts: parts(more), at: 1, numericId: 4, isIntegrationKnown: true }) as const;

describe('a deployed function', () => {
  const first = given(deployedFunction).when(deploy()).state();
  if (first === null) throw new Error('not deployed');
  const deployed = { type: 'FunctionDeployed', deployed: first } as const;

  it('is enabled and has the number that the owner gave', () => {
    expect(first).toMatchObject({ id: 4, isEnabled: true, deployedAt: 1 });
  });

  it('says nothing when the same content is deployed again', () => {
    given(deployedFunction, deployed).when(deploy()).then();
  });

  it('keeps its number and stays disabled when other content is deployed', () => {
    const disabled = given(deployedFunction, deployed, { type: 'FunctionDisabled' });
    const again = { ...deploy({ contentHash: 'h2' }), at: 9 };
    expect(disabled.when(again).state()).toMatchObject({ id: 4, isEnabled: false, deployedAt: 9 });
  });

  it('is refused without its integration', () => {
    given(deployedFunction)
      .when({ ...deploy(), isIntegrationKnown: false })
      .refused('integration_not_found');
  });

  it('is recorded from when it is set until it is not, over deployments', () => {
    const known = given(deployedFunction, deployed);
    known.when({ type: 'SetRecording', recordsCalls: false, at: 2 }).then();
    const set = { type: 'FunctionRecordingSet', recordsCalls: true } as const;
    known.when({ type: 'SetRecording', recordsCalls: true, at: 2 }).then(set);
    const recorded = given(deployedFunction, deployed, set);
    const again = { ...deploy({ contentHash: 'h2' }), at: 9 };
    expect(recorded.when(again).state()).toMatchObject({ recordsCalls: true, contentHash: 'h2' });
    const ended = recorded.when({ type: 'SetRecording', recordsCalls: false, at: 3 }).state();
    expect(ended).toEqual(first);
    given(deployedFunction)
      .when({ type: 'SetRecording', recordsCalls: true, at: 2 })
      .refused('not_found');
  });

  it('is enabled and disabled once', () => {
    const known = given(deployedFunction, deployed);
    known.when({ type: 'Enable', at: 2 }).then();
    known.when({ type: 'Disable', at: 2 }).then({ type: 'FunctionDisabled' });
    given(deployedFunction).when({ type: 'Disable', at: 2 }).refused('not_found');
  });
});
