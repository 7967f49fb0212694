import type { AuthMode } from '../../providers/definition.ts';
import { app } from './app.ts';
import { custom } from './custom.ts';
import type { AuthModeRules } from './mode.ts';
import { oauth1, tba } from './oauth1.ts';
import { oauth2Cc } from './oauth2-cc.ts';
import { oauth2 } from './oauth2.ts';
import { appStore, jwt, signature } from './self-signed-modes.ts';
import { apiKeyMode, basic, none } from './static-modes.ts';
import { bill, twoStep } from './two-step.ts';

/** Every authentication mode (docs/reference/auth-modes.md#overview). */
export const authModeRules: Readonly<Record<AuthMode, AuthModeRules>> = {
  OAUTH1: oauth1,
  OAUTH2: oauth2,
  OAUTH2_CC: oauth2Cc,
  BASIC: basic,
  API_KEY: apiKeyMode,
  APP_STORE: appStore,
  CUSTOM: custom,
  APP: app,
  NONE: none,
  TBA: tba,
  JWT: jwt,
  BILL: bill,
  TWO_STEP: twoStep,
  SIGNATURE: signature,
};
