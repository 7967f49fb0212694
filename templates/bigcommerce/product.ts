import { z } from 'zod';
import type { Product } from '../models/commerce.js';

/** A product as BigCommerce returns it. */
export const BigcommerceProduct = z.object({
  id: z.number(),
  name: z.string(),
  /** HTML. */
  description: z.string().nullish(),
  sku: z.string().nullish(),
  price: z.number().nullish(),
  is_visible: z.boolean(),
  /** Below the address of the shop. */
  custom_url: z.object({ url: z.string() }).nullish(),
  date_created: z.string(),
  date_modified: z.string(),
});
export type BigcommerceProduct = z.infer<typeof BigcommerceProduct>;

/** The currency is a setting of the shop, not of a product. */
export const productOf = (product: BigcommerceProduct): Product => ({
  id: String(product.id),
  name: product.name,
  description: product.description || null,
  status: product.is_visible ? 'active' : 'draft',
  sku: product.sku || null,
  price: product.price ?? null,
  currency: null,
  url: product.custom_url?.url || null,
  tags: [],
  created_at: product.date_created,
  updated_at: product.date_modified,
});
