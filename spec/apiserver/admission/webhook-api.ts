import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { TransportRequest, TransportResponse } from '../../../lib/system/transport.js';
import { Api } from '../api.js';

/** The request of an AdmissionReview. */
export interface Review {
  readonly uid: string;
  readonly operation: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly kind: { readonly version: string };
  readonly requestKind: { readonly version: string };
  readonly object: UnstructuredObject | null;
  readonly oldObject: UnstructuredObject | null;
  readonly userInfo: { readonly username: string };
  readonly dryRun: boolean;
  readonly options: object;
}

/** The response of a webhook in a spec. */
export type Answer = (review: Review) => object | Promise<object>;

/**
 * A server with one webhook service, `default/hook`, with a replaceable response; records its
 * reviews.
 */
export class WebhookApi {
  readonly reviews: Review[] = [];
  answer: Answer = () => ({ allowed: true });
  /** Changes the AdmissionReview with which the webhook answers. */
  review: (review: object) => object = (review) => review;
  readonly api = new Api({ services: { 'default/hook': (request) => this.#serve(request) } });

  /** Creates a webhook configuration. Each of `webhooks` overrides fields of a webhook for all ConfigMaps. */
  async configure(kind: 'Mutating' | 'Validating', ...webhooks: readonly object[]): Promise<void> {
    const name = `${kind.toLowerCase()}webhookconfigurations`;
    await this.api.create(`/apis/admissionregistration.k8s.io/v1/${name}`, {
      metadata: { name: `c${this.#configured++}` },
      webhooks: webhooks.map((webhook, index) => ({ ...everyConfigMap(index), ...webhook })),
    });
  }

  #configured = 0;

  async #serve({ body, path }: TransportRequest): Promise<TransportResponse> {
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const { apiVersion, request } = JSON.parse(text) as { apiVersion: string; request: Review };
    this.reviews.push(request);
    const answer = (await this.answer({ ...request, path } as Review)) as { status?: number };
    const response = { uid: request.uid, ...answer };
    const review = this.review({ apiVersion, kind: 'AdmissionReview', response });
    return responseOf(200, JSON.stringify(review));
  }
}

export function responseOf(status: number, text: string): TransportResponse {
  const body = (async function* () {
    yield new TextEncoder().encode(text);
  })();
  return { status, headers: {}, body };
}

export function everyConfigMap(index: number): object {
  return {
    name: `hook-${index}.acme.com`,
    clientConfig: { service: { name: 'hook', namespace: 'default', path: `/${index}` } },
    rules: [rule()],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
}

export function rule(more: object = {}): object {
  return {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['*'],
    ...more,
  };
}

/** A response with a JSON patch. */
export function patching(...operations: readonly object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}
