import { expect } from 'chai';
import { renderPlan } from '../../lib/builder/index.js';
import type { Plan } from '../../lib/builder/index.js';

const ref = (kind: string, name: string): Plan['owner'] => ({
  ...{ apiVersion: 'v1', kind, namespace: 'shop', name },
});
const exact = { changes: [], approximate: false } as const;

const plan: Plan = {
  owner: ref('Shop', 'shop'),
  changed: true,
  objects: [
    {
      ...exact,
      action: 'create',
      ref: ref('ConfigMap', 'env'),
      changes: [
        { path: 'data', from: undefined, to: { A: '1', 'app.conf': 'port: 1\nhost: a\n' } },
      ],
    },
    {
      ...exact,
      action: 'configure',
      ref: ref('Deployment', 'web'),
      changes: [
        { path: 'spec.replicas', from: 1, to: 2, manager: 'kubectl' },
        { path: 'spec.paused', from: true, to: undefined },
        { path: 'spec.minReadySeconds', from: undefined, to: 5, manager: 'helm' },
      ],
    },
    {
      ...exact,
      action: 'violate',
      ref: ref('StatefulSet', 'store'),
      immutable: ['spec.serviceName'],
      reason: "spec.serviceName can't change",
      changes: [{ path: 'spec', from: undefined, to: undefined }],
    },
    { ...exact, action: 'prune', ref: ref('Service', 'old') },
    { ...exact, action: 'wait', ref: ref('Secret', 'token'), reason: 'is being deleted' },
    {
      ...exact,
      action: 'create',
      ref: ref('Widget', 'one'),
      approximate: true,
      reason: 'no such kind yet',
    },
    { ...exact, action: 'unchanged', ref: ref('Role', 'same') },
  ],
  rollouts: [
    {
      ref: ref('Deployment', 'web'),
      changes: [],
      causes: [ref('ConfigMap', 'env')],
      after: ref('StatefulSet', 'store'),
    },
  ],
};

describe('renderPlan', () => {
  it('prints a line for each object, and below it the changes of the object and their effect on pods', () => {
    expect(renderPlan(plan, { color: false }).split('\n')).to.deep.equal([
      'Plan for Shop shop/shop',
      '+ ConfigMap shop/env create',
      '    + data.A: "1"',
      '    + data["app.conf"]: |',
      '        port: 1',
      '        host: a',
      '~ Deployment shop/web configure',
      '    ~ spec.replicas: 1 → 2 (taken by kubectl)',
      '    - spec.paused: true',
      '    + spec.minReadySeconds: 5 (taken by helm)',
      '    its pods are replaced, for ConfigMap shop/env changed, after StatefulSet shop/store',
      "! StatefulSet shop/store refused (spec.serviceName can't change)",
      '    ! spec',
      '- Service shop/old prune',
      '… Secret shop/token waits (is being deleted)',
      '+ Widget shop/one create (approximate; no such kind yet)',
      '2 to create, 1 to configure, 0 to recreate, 1 to prune, 1 unchanged, 1 to roll out, 1 in trouble',
    ]);
  });

  it('prints unchanged objects and colours if asked to', () => {
    expect(renderPlan(plan, { color: false, unchanged: true })).to.include(
      '  Role shop/same unchanged',
    );
    const codes = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2 };
    const painted = (color: keyof typeof codes, text: string): string =>
      `\u001b[${codes[color]}m${text}\u001b[${color === 'dim' ? 22 : 39}m`;
    expect(renderPlan(plan, { color: true, unchanged: true }).split('\n')).to.include.members([
      `${painted('green', '+ ConfigMap shop/env')} create`,
      `${painted('yellow', '~ Deployment shop/web')} configure`,
      `${painted('red', '- Service shop/old')} prune`,
      `${painted('red', '! StatefulSet shop/store')} refused${painted('dim', " (spec.serviceName can't change)")}`,
      `${painted('cyan', '… Secret shop/token')} waits${painted('dim', ' (is being deleted)')}`,
      `${painted('dim', '  Role shop/same')} unchanged`,
    ]);
  });

  it('counts an object that the server refuses as "in trouble"', () => {
    const objects = [
      { ...exact, action: 'fail', ref: ref('Job', 'copy'), reason: 'is invalid' } as const,
    ];
    const rendered = renderPlan({ ...plan, objects, rollouts: [] }, { color: false });
    expect(rendered).to.match(/0 to create, .*, 1 in trouble$/);
  });
});
