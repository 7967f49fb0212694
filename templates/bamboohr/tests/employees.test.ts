import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('bamboohr/employees', () => {
  it.each(situations(import.meta.url, { kind: 'sync', name: 'employees' }))('$name', ({ play }) =>
    play(),
  );
});
