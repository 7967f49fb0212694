import type { Answer } from '#client/index.ts';

export type RunDetail = Answer<'GET /runs/{id}'>['data'];

export const isOver = ({ status }: RunDetail): boolean =>
  status !== 'queued' && status !== 'running';
