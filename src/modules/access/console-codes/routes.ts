import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { data, json, timestamp } from '#http/responses.ts';
import { isoMillis } from '#kernel/time.ts';
import { defineRoute } from '../services.ts';
import { createCode, signInUrl } from './handlers.ts';

const codeShape = data(
  z
    .strictObject({
      code: z.string().describe('One-time code.'),
      expires_at: timestamp,
      url: z.string().describe('Address that signs a browser in with the code.'),
    })
    .meta({
      id: 'ConsoleCode',
      examples: [
        {
          code: 'Zk3…',
          expires_at: '2026-02-01T08:05:00.000Z',
          url: 'https://gateway.example.com/console#code=Zk3…',
        },
      ],
    }),
);

const create = defineRoute({
  method: 'POST',
  path: '/console/codes',
  credential: 'key',
  scopes: [],
  summary: 'Create a link that signs a browser in to the console.',
  description: 'It works once, for the calling key.',
  answers: { 201: json('The code, and the address that holds it.', codeShape) },
  errors: [],
  async handle({ caller, services }) {
    const { environmentUid, keyId: id, actor } = caller;
    const key = { environmentUid: environmentUid === '' ? null : environmentUid, id };
    const { code, expiresAt } = await createCode(services, [key], { actor });
    const url = signInUrl(services.settings.publicUrl, code);
    return {
      status: 201,
      body: { data: { code, expires_at: isoMillis(expiresAt), url } },
      headers: { 'cache-control': 'no-store' },
    };
  },
});

export const consoleCodeRoutes: readonly AnyRoute[] = [create];
