import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('airtable/create-record', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-record' }))(
    '$name',
    ({ play }) => play(),
  );
});
