import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import {
  deployment,
  deploymentDueAt,
  type DeploymentOrder,
} from '#modules/functions/deployments/deployment.ts';
import { given } from '#test/support/judges/given.ts';

const order: DeploymentOrder = {
  id: 'd1',
  environmentUid: 'e1',
  integrationKey: 'crm',
  functionName: 'greet',
  functionType: 'action',
  code: 'export default 1;',
  version: null,
  allowsDestructive: false,
  actor: 'key:1',
};
const queued = { type: 'DeploymentQueued', order, at: 10 } as const;
const started = { type: 'DeploymentStarted', token: 'a', at: 20 } as const;
const applied = { type: 'DeploymentApplied', version: '1', at: 45 } as const;
const failed = (code: string, at: number) => ({
  type: 'DeploymentFailed',
  error: { code, message: expect.any(String) as string },
  at,
});

describe('a deployment that waits', () => {
  it('is queued once', () => {
    given(deployment).when({ type: 'Queue', order, at: 10 }).then(queued);
    given(deployment, queued).when({ type: 'Queue', order, at: 11 }).then();
  });

  it('is carried out by the node that was first', () => {
    given(deployment, queued).when({ type: 'Start', token: 'a', at: 20 }).then(started);
    given(deployment, queued, started).when({ type: 'Start', token: 'b', at: 21 }).then();
  });

  it('fails when nobody takes it up in time', () => {
    const at = 10 + limits.deploymentMs;
    given(deployment, queued)
      .when({ type: 'Tick', at: at - 1 })
      .then();
    given(deployment, queued)
      .when({ type: 'Tick', at })
      .then(failed('execution_environment_unavailable', at));
  });
});

describe('a deployment that is carried out', () => {
  const running = given(deployment, queued, started);

  it('can be given back, and is then taken up by another node', () => {
    running
      .when({ type: 'Release', token: 'a', at: 30 })
      .then({ type: 'DeploymentReleased', at: 30 });
    running.when({ type: 'Release', token: 'b', at: 30 }).then();
    const released = { type: 'DeploymentReleased', at: 30 } as const;
    given(deployment, queued, started, released)
      .when({ type: 'Start', token: 'b', at: 40 })
      .then({ type: 'DeploymentStarted', token: 'b', at: 40 });
  });

  it('ends once, and is not kept with its source', () => {
    const ended = { type: 'DeploymentSucceeded', at: 50 } as const;
    running.when({ type: 'Apply', token: 'a', version: '1', at: 45 }).then(applied);
    given(deployment, queued, started, applied)
      .when({ type: 'Succeed', token: 'a', at: 50 })
      .then(ended);
    const over = given(deployment, queued, started, applied, ended);
    expect(over.state).toMatchObject({
      status: 'success',
      code: '',
      deployedVersion: '1',
      startedAt: 20,
      endedAt: 50,
    });
    const error = { code: 'timeout', message: 'Too late.' };
    over.when({ type: 'Fail', token: 'a', error, at: 60 }).then();
  });

  it('fails by its time, and then deploys nothing any more', () => {
    const at = 20 + limits.deploymentMs;
    running.when({ type: 'Tick', at }).then(failed('timeout', at));
    const late = { type: 'DeploymentFailed', error: { code: 'timeout', message: '' }, at } as const;
    given(deployment, queued, started, late)
      .when({ type: 'Apply', token: 'a', version: '1', at: at + 1 })
      .refused('stale_attempt');
  });

  it('has succeeded when only its end was lost', () => {
    const at = 20 + limits.deploymentMs;
    given(deployment, queued, started, applied)
      .when({ type: 'Tick', at })
      .then({ type: 'DeploymentSucceeded', at });
  });
});

describe('a deployment that has ended', () => {
  const ended = { type: 'DeploymentSucceeded', at: 50 } as const;

  it('is shown for a week', () => {
    const over = given(deployment, queued, started, ended);
    if (over.state === null) throw new Error('gone');
    expect(deploymentDueAt(over.state)).toBe(50 + limits.deploymentKeptMs);
    over
      .when({ type: 'Tick', at: 50 + limits.deploymentKeptMs })
      .then({ type: 'DeploymentForgotten' });
  });
});
