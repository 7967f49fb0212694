import { z } from 'zod';
import type { Product } from '../models/commerce.js';
import { utcOf } from './lists.js';

/** A product as WooCommerce returns it. */
export const WoocommerceProduct = z.object({
  id: z.number(),
  name: z.string(),
  permalink: z.string().nullish(),
  status: z.string(),
  /** HTML. */
  description: z.string().nullish(),
  sku: z.string().nullish(),
  /** Empty without a price. */
  price: z.string().nullish(),
  tags: z.array(z.object({ id: z.number(), name: z.string() })),
  date_created_gmt: z.string().nullable(),
  date_modified_gmt: z.string().nullable(),
});
export type WoocommerceProduct = z.infer<typeof WoocommerceProduct>;

/** The currency is a setting of the shop, not of a product. */
export const productOf = (product: WoocommerceProduct): Product => ({
  id: String(product.id),
  name: product.name,
  description: product.description || null,
  status: product.status === 'publish' ? 'active' : 'draft',
  sku: product.sku || null,
  price: product.price ? Number(product.price) : null,
  currency: null,
  url: product.permalink || null,
  tags: product.tags.map(({ name }) => name),
  created_at: utcOf(product.date_created_gmt),
  updated_at: utcOf(product.date_modified_gmt),
});
