import type { AnyRoute } from '../../../http/define-route.ts';
import { formRoutes } from './form-routes.ts';
import { redirectRoutes } from './redirect-routes.ts';

/** How a person connects: by the provider's pages, or by a form. */
export const authorizationRoutes: readonly AnyRoute[] = [...redirectRoutes, ...formRoutes];
