import { z } from 'zod';
import type { Customer } from '../models/commerce.js';

/** A customer as `customersQuery` asks for it. */
export const ShopifyCustomer = z.object({
  /** Such as `gid://shopify/Customer/1`. */
  id: z.string(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  defaultEmailAddress: z.object({ emailAddress: z.string() }).nullable(),
  defaultPhoneNumber: z.object({ phoneNumber: z.string() }).nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type ShopifyCustomer = z.infer<typeof ShopifyCustomer>;

export const customersQuery = `
  query Customers($first: Int!, $after: String, $query: String) {
    customers(first: $first, after: $after, query: $query, sortKey: ID) {
      nodes {
        id firstName lastName createdAt updatedAt
        defaultEmailAddress { emailAddress }
        defaultPhoneNumber { phoneNumber }
      }
      pageInfo { hasNextPage endCursor }
    }
  }`;

export const customerOf = (customer: ShopifyCustomer): Customer => ({
  id: customer.id,
  name: [customer.firstName, customer.lastName].filter(Boolean).join(' ') || null,
  email: customer.defaultEmailAddress?.emailAddress ?? null,
  phone: customer.defaultPhoneNumber?.phoneNumber ?? null,
  created_at: customer.createdAt,
  updated_at: customer.updatedAt,
});
