import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { TransportRequest, TransportResponse } from '../../../lib/system/transport.js';
import { responseOf } from '../admission/webhook-api.js';
import { Api } from '../api.js';
import { crds } from './widgets.js';

export interface Shop extends UnstructuredObject {
  spec: { size?: string; count?: number };
}

interface Request {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly Shop[];
}

interface Review {
  readonly apiVersion: string;
  readonly request: Request;
}

/** Converts between v1 with `size: "3"` and v2, the storage version, with `count: 3`. Parts may be missing or null. */
function converted(shop: Shop, apiVersion: string): Shop {
  const { spec: given } = shop as { spec?: Shop['spec'] | null };
  const { size, count, ...rest } = given ?? {};
  const value = shop.apiVersion.endsWith('v1') ? size : count;
  const named = apiVersion.endsWith('v1') ? { size: String(value) } : { count: Number(value) };
  const spec = { ...rest, ...(value !== undefined && named) };
  return { ...shop, apiVersion, ...('spec' in shop && { spec }) };
}

/**
 * A server with the kind Shop in two versions, converted by a webhook with a replaceable response. Records the requests
 * of the webhook.
 */
export class ConversionApi {
  readonly requests: Request[] = [];
  readonly reviewVersions: string[] = [];
  change: (response: Record<string, unknown>) => unknown = (response) => response;
  review: (review: object) => unknown = (review) => review;
  readonly api = new Api({ services: { 'default/shops': (request) => this.#serve(request) } });

  /** @param reviewVersions - versions of a ConversionReview that the webhook reads, the preferred one first */
  async start(reviewVersions: readonly string[] = ['v1']): Promise<this> {
    await this.api.create(crds, definition(reviewVersions));
    return this;
  }

  async #serve({ body }: TransportRequest): Promise<TransportResponse> {
    const review = JSON.parse(String(body)) as Review;
    this.requests.push(review.request);
    this.reviewVersions.push(review.apiVersion);
    const { uid, objects, desiredAPIVersion } = review.request;
    const convertedObjects = objects.map((shop) => converted(shop, desiredAPIVersion));
    const response = this.change({ uid, result: { status: 'Success' }, convertedObjects });
    const { apiVersion } = review;
    const answer = this.review({ apiVersion, kind: 'ConversionReview', response });
    return Promise.resolve(responseOf(200, JSON.stringify(answer)));
  }
}

export function definition(reviewVersions: readonly string[] = ['v1']): object {
  const schema = (property: object) => ({
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: property } },
    },
  });
  const service = { name: 'shops', namespace: 'default', path: '/convert' };
  return {
    metadata: { name: 'shops.acme.com' },
    spec: {
      group: 'acme.com',
      scope: 'Namespaced',
      names: { plural: 'shops', kind: 'Shop' },
      versions: [
        { name: 'v1', served: true, storage: false, schema: schema({ size: { type: 'string' } }) },
        { name: 'v2', served: true, storage: true, schema: schema({ count: { type: 'integer' } }) },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { service }, conversionReviewVersions: reviewVersions },
      },
    },
  };
}

export interface Definition {
  readonly spec: { readonly versions: readonly object[] };
}

export const v1 = '/apis/acme.com/v1/namespaces/default/shops';
export const v2 = '/apis/acme.com/v2/namespaces/default/shops';
export const shop = (name: string, spec: object, version = 'v1'): object => ({
  apiVersion: `acme.com/${version}`,
  kind: 'Shop',
  metadata: { name },
  spec,
});
