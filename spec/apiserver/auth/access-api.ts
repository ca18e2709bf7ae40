import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { TransportRequest, TransportResponse } from '../../../lib/system/transport.js';
import { Api } from '../api.js';

/** A server with RBAC; `as` sends a request with the token of a user or ServiceAccount. */
export class AccessApi {
  readonly api = new Api({
    rbac: true,
    users: {
      'admin-token': { name: 'root', groups: ['system:masters'] },
      'alice-token': 'alice',
      'bob-token': { name: 'bob', groups: ['devs'] },
    },
  });

  async as(
    token: string,
    request: Partial<TransportRequest> & { readonly path: string; readonly object?: object },
  ): Promise<{ code: number; body: UnstructuredObject & { message: string } }> {
    const { object, headers = {}, ...rest } = request;
    const own = { 'content-type': 'application/json', ...headers };
    const shown = token === '' ? own : { authorization: `Bearer ${token}`, ...own };
    const body = object === undefined ? {} : { body: JSON.stringify(object) };
    return read(await this.api.raw({ ...rest, ...body, headers: shown }));
  }

  /** Creates an object as the administrator, and expects success. */
  async make(path: string, object: object): Promise<UnstructuredObject> {
    const { code, body } = await this.as('admin-token', { method: 'POST', path, object });
    if (code !== 201) throw new Error(`${path}: ${body.message}`);
    return body;
  }

  /** Creates a Role in `default` and its binding. */
  async grant(name: string, rules: readonly object[], subject: object): Promise<void> {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    await this.make(`${rbac}/roles`, { metadata: { name }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    await this.make(`${rbac}/rolebindings`, { metadata: { name }, roleRef, subjects: [subject] });
  }
}

async function read(
  response: TransportResponse,
): Promise<{ code: number; body: UnstructuredObject & { message: string } }> {
  let text = '';
  for await (const chunk of response.body) text += new TextDecoder().decode(chunk);
  const body = (text.startsWith('{') ? JSON.parse(text) : {}) as UnstructuredObject & {
    message: string;
  };
  return { code: response.status, body };
}
