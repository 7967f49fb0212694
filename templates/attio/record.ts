import type { SvcSync } from 'svc';

/** A record as Attio returns it: each attribute has a list of values. */
export interface AttioRecord<Values> {
  id: { record_id: string };
  created_at: string;
  values: Values;
}

/** Pages of all records of an object, by creation. @param object such as `people` */
export const recordsFrom = <Values>(
  svc: Pick<SvcSync, 'paginate'>,
  object: string,
  offset: number,
): AsyncGenerator<AttioRecord<Values>[]> =>
  svc.paginate<AttioRecord<Values>>({
    method: 'POST',
    endpoint: `/v2/objects/${object}/records/query`,
    data: { sorts: [{ attribute: 'created_at', direction: 'asc' }] },
    paginate: {
      type: 'offset',
      offset_name_in_request: 'offset',
      offset_start_value: offset,
      limit_name_in_request: 'limit',
      limit: 500,
      response_path: 'data',
    },
    retries: 5,
  });
