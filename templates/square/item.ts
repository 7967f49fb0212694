import { z } from 'zod';
import type { Product } from '../models/commerce.js';
import { unitsOf } from '../shared/money.js';

/** An item of the catalog as Square returns it: fields without a value are left out. */
export const SquareItem = z.object({
  type: z.literal('ITEM'),
  id: z.string(),
  updated_at: z.string(),
  is_deleted: z.boolean().optional(),
  item_data: z
    .object({
      name: z.string().optional(),
      description_plaintext: z.string().optional(),
      is_archived: z.boolean().optional(),
      variations: z
        .array(
          z.object({
            item_variation_data: z
              .object({
                sku: z.string().optional(),
                price_money: z.object({ amount: z.number(), currency: z.string() }).optional(),
              })
              .optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});
export type SquareItem = z.infer<typeof SquareItem>;

/** Price and SKU are those of the first variation: each item has one at least. */
export function productOf({ id, item_data: item, updated_at: changedAt }: SquareItem): Product {
  const variation = item?.variations?.[0]?.item_variation_data;
  const price = variation?.price_money;
  return {
    id,
    name: item?.name ?? '',
    description: item?.description_plaintext ?? null,
    status: item?.is_archived === true ? 'archived' : 'active',
    sku: variation?.sku ?? null,
    price: price === undefined ? null : unitsOf(price.amount, price.currency),
    currency: price?.currency ?? null,
    url: null,
    tags: [],
    created_at: null,
    updated_at: changedAt,
  };
}
