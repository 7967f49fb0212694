import { connectionId, functionName, integrationKey, modelName } from '#http/fields.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import type { ChangeFilter } from './fields.ts';

/** Query or body of a filter. */
export const filterFields = {
  provider_config_key: integrationKey.optional(),
  connection_id: connectionId.optional(),
  model: modelName.optional(),
  variant: functionName.optional(),
};

/** What a filter looks at; an integration or connection that is not known is null. */
type FilteredFields = Pick<RecordChange, 'integration' | 'connection_id' | 'model' | 'variant'>;

export function isWanted(change: FilteredFields, filter: ChangeFilter): boolean {
  const isSame = (wanted: string | undefined, value: string | null): boolean =>
    wanted === undefined || wanted === value;
  return (
    isSame(filter.provider_config_key, change.integration) &&
    isSame(filter.connection_id, change.connection_id) &&
    isSame(filter.model, change.model) &&
    (filter.models?.includes(change.model) ?? true) &&
    isSame(filter.variant, change.variant)
  );
}
