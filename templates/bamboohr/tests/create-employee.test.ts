import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bamboohr/create-employee', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-employee' }))(
    '$name',
    ({ play }) => play(),
  );
});
