import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('wrike/create-task', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-task' }))(
    '$name',
    ({ play }) => play(),
  );
});
