import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('sharepoint-online/create-list-item', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-list-item' }))(
    '$name',
    ({ play }) => play(),
  );
});
