import { expect } from 'chai';
import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { eventually } from '../../cluster/control-plane/eventually.js';

/** A request as the administrator. */
export interface FlowStep {
  /** @defaultValue 'GET' */
  readonly method?: string;
  readonly path: string;
  readonly body?: object;
  /** The user to act as, and its groups. @defaultValue the administrator */
  readonly as?: readonly [string, ...string[]];
}

/** An API server, and the token of its administrator. */
export interface FlowTarget {
  readonly url: string;
  readonly token: string;
  /** @defaultValue that of undici */
  readonly dispatcher?: Dispatcher;
  stop(): Promise<void>;
}

async function sendTo(
  { url, token, dispatcher }: FlowTarget,
  { method = 'GET', path, body, as }: FlowStep,
): Promise<FlowAnswer> {
  const [user, ...groups] = as ?? [];
  const answer = await request(url + path, {
    ...{ method: method as 'GET', ...(dispatcher !== undefined && { dispatcher }) },
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(user !== undefined && { 'impersonate-user': user }),
      ...(groups.length > 0 && { 'impersonate-group': groups }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { statusCode: status, headers } = answer;
  return { status, headers, text: await answer.body.text() };
}

interface FlowAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: object;
  readonly status?: { readonly conditions?: readonly Readonly<Record<string, string>>[] };
}

const api = '/apis/flowcontrol.apiserver.k8s.io/v1';
const account = (namespace: string): [string] => [`system:serviceaccount:${namespace}:x`];
const node: [string, string] = ['system:node:x', 'system:nodes'];
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

/** Requests, each with the FlowSchema and the priority level that handle it. */
const requests: readonly (readonly [FlowStep, string, string])[] = [
  [{ path: '/api/v1/pods' }, 'exempt', 'exempt'],
  [{ path: '/nowhere' }, 'exempt', 'exempt'],
  [{ path: '/api/v1/pods', as: ['jane'] }, 'global-default', 'global-default'],
  [{ path: '/api/v1/pods?watch=true', as: ['jane'] }, 'global-default', 'global-default'],
  [{ path: '/version', as: ['jane'] }, 'global-default', 'global-default'],
  [{ path: '/healthz', as: ['jane'] }, 'probes', 'exempt'],
  [{ path: '/livez/ping', as: ['system:anonymous'] }, 'probes', 'exempt'],
  [{ path: '/healthz', method: 'POST', as: ['jane'] }, 'global-default', 'global-default'],
  [{ path: '/api/v1/pods', as: account('a') }, 'service-accounts', 'workload-low'],
  [
    { path: '/api/v1/pods', as: account('kube-system') },
    ...(['kube-system-service-accounts', 'workload-high'] as const),
  ],
  [
    { path: `${leases}/x`, as: account('kube-system') },
    ...(['system-leader-election', 'leader-election'] as const),
  ],
  [
    { path: leases, as: account('kube-system') },
    ...(['kube-system-service-accounts', 'workload-high'] as const),
  ],
  [{ path: '/api/v1/nodes/x', as: node }, 'system-node-high', 'node-high'],
  [{ path: '/api/v1/pods', as: node }, 'system-nodes', 'system'],
];

/** Specs of priority and fairness, for the embedded server and for a real one. */
export function flowControlSuite(title: string, start: () => Promise<FlowTarget>): void {
  describe(`API Priority and Fairness of ${title}`, () => {
    const undo: string[] = [];
    let target: FlowTarget;

    const items = async (plural: string): Promise<readonly Item[]> => {
      const { text } = await sendTo(target, { path: `${api}/${plural}` });
      return (JSON.parse(text) as { items: Item[] }).items;
    };

    const create = async (plural: string, name: string, spec: object): Promise<void> => {
      const body = { metadata: { name }, spec };
      const { status, text } = await sendTo(target, {
        method: 'POST',
        path: `${api}/${plural}`,
        body,
      });
      expect(status, text).to.equal(201);
      undo.push(`${api}/${plural}/${name}`);
    };

    /** Returns the names of the FlowSchema and the level in the headers of a response. */
    const flowOf = async (step: FlowStep): Promise<readonly (string | undefined)[]> => {
      const { headers } = await sendTo(target, step);
      const named = async (plural: string, header: string): Promise<string | undefined> =>
        (await items(plural)).find(({ metadata }) => metadata.uid === headers[header])?.metadata
          .name;
      return [
        await named('flowschemas', 'x-kubernetes-pf-flowschema-uid'),
        await named('prioritylevelconfigurations', 'x-kubernetes-pf-prioritylevel-uid'),
      ];
    };

    before(async () => {
      target = await start();
    });

    afterEach(async () => {
      for (const path of undo.splice(0).reverse()) await sendTo(target, { method: 'DELETE', path });
    });

    after(() => target.stop());

    it('has the FlowSchemas and priority levels of a new cluster', async () => {
      const flows = await items('flowschemas');
      const names = flows.map(({ metadata }) => metadata.name);
      expect(names).to.include.members(requests.map(([, flow]) => flow));
      expect(names).to.include.members(['catch-all', 'kube-controller-manager', 'kube-scheduler']);
      const dangling = flows.map(({ status }) => status?.conditions?.[0]?.['reason']);
      expect(new Set(dangling)).to.deep.equal(new Set(['Found']));
      const levels = await items('prioritylevelconfigurations');
      const low = levels.find(({ metadata }) => metadata.name === 'workload-low');
      const queuing = { queues: 128, handSize: 6, queueLengthLimit: 50 };
      expect(low?.spec).to.deep.equal({
        type: 'Limited',
        limited: {
          ...{ nominalConcurrencyShares: 100, lendablePercent: 90 },
          limitResponse: { type: 'Queue', queuing },
        },
      });
    });

    for (const [step, flow, level] of requests) {
      const { method = 'GET', path, as = ['the administrator'] } = step;
      it(`chooses ${flow} for ${method} ${path} of ${as[0]}`, async () => {
        expect(await flowOf(step)).to.deep.equal([flow, level]);
      });
    }

    it('chooses no FlowSchema for a long-running request such as one for logs', async () => {
      const { headers } = await sendTo(target, { path: '/api/v1/namespaces/default/pods/x/log' });
      expect(headers).to.not.have.property('x-kubernetes-pf-flowschema-uid');
    });

    it('chooses the first by name of FlowSchemas with the same precedence', async () => {
      const resourceRules = [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }];
      const rule = {
        subjects: [{ kind: 'User', user: { name: 'joe' } }],
        resourceRules: resourceRules.map((each) => ({ ...each, namespaces: ['spec-flow'] })),
      };
      const priorityLevelConfiguration = { name: 'workload-low' };
      const spec = { priorityLevelConfiguration, matchingPrecedence: 600, rules: [rule] };
      for (const name of ['spec-b', 'spec-a', 'spec-c']) await create('flowschemas', name, spec);
      const step: FlowStep = { path: '/api/v1/namespaces/spec-flow/pods', as: ['joe'] };
      await eventually(async () => expect((await flowOf(step))[0]).to.equal('spec-a'));
    });

    it('chooses a new FlowSchema by its precedence as soon as its priority level exists', async () => {
      const rule = {
        subjects: [{ kind: 'User', user: { name: 'jim' } }],
        resourceRules: [
          {
            ...{ verbs: ['list'], apiGroups: [''], resources: ['pods'], namespaces: ['spec-flow'] },
          },
        ],
      };
      const priorityLevelConfiguration = { name: 'spec-level' };
      const spec = { priorityLevelConfiguration, matchingPrecedence: 600, rules: [rule] };
      await create('flowschemas', 'spec-flow', spec);
      const dangling = async (): Promise<string | undefined> => {
        const { text } = await sendTo(target, { path: `${api}/flowschemas/spec-flow` });
        return (JSON.parse(text) as Item).status?.conditions?.[0]?.['reason'];
      };
      await eventually(async () => expect(await dangling()).to.equal('NotFound'));
      const inNamespace = '/api/v1/namespaces/spec-flow/pods';
      const step: FlowStep = { path: inNamespace, as: ['jim'] };
      expect((await flowOf(step))[0]).to.equal('global-default');
      const exempt = { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } };
      const level = { type: 'Limited', limited: exempt };
      await create('prioritylevelconfigurations', 'spec-level', level);
      await eventually(async () => {
        expect(await flowOf(step)).to.deep.equal(['spec-flow', 'spec-level']);
      });
      // kube-apiserver uses a new configuration before it writes the conditions.
      await eventually(async () => expect(await dangling()).to.equal('Found'));
      const elsewhere = await flowOf({ path: '/api/v1/namespaces/other/pods', as: ['jim'] });
      expect(elsewhere[0]).to.equal('global-default');
    });
  });
}
