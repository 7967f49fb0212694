import type { AnyRoute } from '#http/define-route.ts';
import { formRoutes } from './form-routes.ts';
import { redirectRoutes } from './redirect-routes.ts';

/** Routes for users to connect: by the provider's pages, or by a form. */
export const authorizationRoutes: readonly AnyRoute[] = [...redirectRoutes, ...formRoutes];
