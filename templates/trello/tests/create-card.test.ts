import { situations } from 'svc/testing';
import { describe, it } from 'vitest';

describe('trello/create-card', () => {
  it.each(situations(import.meta.url, { kind: 'action', name: 'create-card' }))(
    '$name',
    ({ play }) => play(),
  );
});
