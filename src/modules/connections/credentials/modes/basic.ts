import { z } from 'zod';
import { textAt } from '#kernel/json-path.ts';
import type { Credentials } from '../../connections/state.ts';
import type { AuthModeRules } from './mode.ts';
import { strict } from './shapes.ts';
import { basicHeader } from './token-request.ts';

const fields = { username: z.string().max(1024), password: z.string().max(1024) };

/** User name and password, either of which may be empty (RFC 7617); they never expire. */
export const basic: AuthModeRules = {
  mode: 'BASIC',
  integration: null,
  importShape: () => strict({ type: z.literal('BASIC'), ...fields }),
  import: async (input) => ({ credentials: input as Credentials, expiresAt: null }),
  form: {
    shape: () => strict(fields),
    submit: async (credentials) => ({
      credentials: { type: 'BASIC', ...credentials },
      expiresAt: null,
    }),
  },
  redirect: null,
  renewal: null,
  isTested: true,
  authorization: ({ credentials }) =>
    basicHeader(textAt(credentials, 'username') ?? '', textAt(credentials, 'password') ?? ''),
};
