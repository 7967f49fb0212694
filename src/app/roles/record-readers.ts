import type { ControlPlane } from '#control-plane/control-plane.ts';
import { listKeys } from '#modules/access/api-keys/queries.ts';
import { holdsScope } from '#modules/access/api-keys/scopes.ts';
import type { FindRecordReaders } from '#modules/functions/functions/record-readers.ts';
import { listTypedTopics } from '#modules/operations/typed-topics/queries.ts';
import { listEndpoints } from '#modules/webhooks/webhook-endpoints/queries.ts';

/** Collects from later wings who reads records of a model. */
export const findRecordReaders =
  (control: ControlPlane): FindRecordReaders =>
  (environmentUid, integrationKey, model) => ({
    api_keys: listKeys(control, environmentUid)
      .filter(({ scopes }) => holdsScope(scopes, 'environment:records:read'))
      .map(({ displayName }) => displayName),
    webhook_endpoints: listEndpoints(control, environmentUid)
      .filter(
        (endpoint) =>
          endpoint.isEnabled &&
          (endpoint.kinds === null || endpoint.kinds.includes('sync')) &&
          [null, integrationKey].includes(endpoint.integrationKey),
      )
      .map(({ displayName }) => displayName),
    typed_topics: listTypedTopics(control, environmentUid)
      .filter((topic) => topic.integrationKey === integrationKey && topic.model === model)
      .map(({ address, major }) => `${address}.v${Math.max(major, 1)}`),
  });
