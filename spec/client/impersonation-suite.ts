import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { Client, KubeConfigClientOptions } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { failureOf } from './scripted-transport.js';

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly status?: { readonly userInfo: object };
}

/** Returns the user as which the server handles the client's requests. */
export async function userOf(client: Client): Promise<object | undefined> {
  const [apiVersion, kind] = ['authentication.k8s.io/v1', 'SelfSubjectReview'];
  const review = await client.create<Review>({ apiVersion, kind, metadata: {} });
  return review.status?.userInfo;
}

const authenticated = 'system:authenticated';

/**
 * Specifies how clients impersonate users on a server.
 * @param kubeConfig - returns the kubeconfig of an account that may impersonate everyone
 */
export function impersonationSuite(kubeConfig: () => Promise<string>): void {
  type Options = Pick<KubeConfigClientOptions, 'impersonate'>;

  /** Calls `work` with a client of the kubeconfig, whose user has the fields `more`. */
  async function as<T>(
    { more = {}, ...options }: Options & { readonly more?: object },
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const config = parse(await kubeConfig()) as { users: { user: object }[] };
    for (const entry of config.users) Object.assign(entry.user, more);
    const client = await clientFromKubeConfig({ text: stringify(config), ...options });
    return work(client).finally(() => client.close());
  }

  const jane = {
    ...{ user: 'jane', groups: ['devs', 'ops'], uid: 'u-1' },
    extra: { 'example.com/team': ['a', 'b'], scopes: ['view'] },
  };
  const seen = {
    ...{ username: 'jane', groups: ['devs', 'ops', authenticated], uid: 'u-1' },
    extra: jane.extra,
  };

  it('the client sends requests as the user in its option impersonate', async () => {
    expect(await as({ impersonate: jane }, userOf)).to.deep.equal(seen);
    const account = { user: 'system:serviceaccount:shop:default' };
    expect(await as({ impersonate: account }, userOf)).to.deep.include({
      username: account.user,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', authenticated],
    });
  });

  it('the client sends requests as the user that the kubeconfig impersonates, unless its option impersonate names another user', async () => {
    const { user, groups, uid, extra } = jane;
    const more = { as: user, 'as-groups': groups, 'as-uid': uid, 'as-user-extra': extra };
    expect(await as({ more }, userOf)).to.deep.equal(seen);
    expect(await as({ more, impersonate: { user: 'joe' } }, userOf)).to.deep.equal({
      username: 'joe',
      groups: [authenticated],
    });
  });

  it('the client encodes names of users and groups that are not ASCII text, and keys of extra that no header can have', async () => {
    const impersonate = {
      ...{ user: 'Zoë', groups: ['größe', 'b,c', '部門'], uid: 'ü' },
      extra: { 'example.com/(größe)%2f': ['ä'] },
    };
    expect(await as({ impersonate }, userOf)).to.deep.equal({
      ...{ username: 'Zoë', groups: ['größe', 'b,c', '部門', authenticated], uid: 'ü' },
      extra: impersonate.extra,
    });
  });

  it('the client has only the rights of the user in its option impersonate', async () => {
    const list = (client: Client) => client.list(ConfigMap, { namespace: 'default' });
    const error = await failureOf(as({ impersonate: { user: 'jane' } }, list));
    expect(error.message).to.include('User "jane" cannot list resource "configmaps"');
    await as({ impersonate: { user: 'jane', groups: ['system:masters'] } }, list);
  });
}
