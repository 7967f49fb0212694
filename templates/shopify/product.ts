import { z } from 'zod';
import type { Product } from '../models/commerce.js';

/** A product as `productsQuery` asks for it. */
export const ShopifyProduct = z.object({
  /** Such as `gid://shopify/Product/1`. */
  id: z.string(),
  title: z.string(),
  descriptionHtml: z.string(),
  status: z.string(),
  tags: z.array(z.string()),
  /** Null where it is not in the online store. */
  onlineStoreUrl: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  priceRangeV2: z.object({
    minVariantPrice: z.object({ amount: z.string(), currencyCode: z.string() }),
  }),
  variants: z.object({ nodes: z.array(z.object({ sku: z.string().nullable() })) }),
});
export type ShopifyProduct = z.infer<typeof ShopifyProduct>;

export const productsQuery = `
  query Products($first: Int!, $after: String, $query: String) {
    products(first: $first, after: $after, query: $query, sortKey: ID) {
      nodes {
        id title descriptionHtml status tags onlineStoreUrl createdAt updatedAt
        priceRangeV2 { minVariantPrice { amount currencyCode } }
        variants(first: 1) { nodes { sku } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }`;

/** The SKU is that of the first variant, the price the lowest of all. */
export const productOf = (product: ShopifyProduct): Product => ({
  id: product.id,
  name: product.title,
  description: product.descriptionHtml || null,
  status: statusOf(product.status),
  sku: product.variants.nodes[0]?.sku || null,
  price: Number(product.priceRangeV2.minVariantPrice.amount),
  currency: product.priceRangeV2.minVariantPrice.currencyCode,
  url: product.onlineStoreUrl,
  tags: product.tags,
  created_at: product.createdAt,
  updated_at: product.updatedAt,
});

function statusOf(status: string): Product['status'] {
  if (status === 'DRAFT') return 'draft';
  return status === 'ARCHIVED' ? 'archived' : 'active';
}
