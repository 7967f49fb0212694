import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('pagerduty/create-incident', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-incident' }))(
    '$name',
    ({ play }) => play(),
  );
});
