import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { allowed, field, invalid, validatingWebhook } from '../../../lib/manager/webhooks/index.js';
import { serveLocalWebhooks } from '../../../lib/manager/webhooks/webhook-configurations.js';
import { isApiError } from '../../../lib/object/api-error.js';

const CronTab = defineResource({
  ...{ group: 'example.com', kind: 'CronTab' },
  versions: [{ name: 'v1', schema: s.object({ spec: s.object({ schedule: s.string() }) }) }],
});

describe('field, which describes the invalid fields of an admission request', () => {
  it('creates causes with the same reasons and messages as the API server', () => {
    expect([
      field.required('a'),
      field.required('a', 'name it'),
      field.invalid('a', 'x', 'must be a y'),
      field.invalid('a', 1.5, 'must be whole'),
      field.notSupported('a', 'x', ['y', 'z']),
      field.forbidden('a', 'may not change'),
      field.duplicate('a', 'x'),
      field.notFound('a', 'x'),
      field.tooLong('a', 63),
      field.tooMany('a', 3, 2),
    ]).to.deep.equal(
      [
        ['Required', 'Required value'],
        ['Required', 'Required value: name it'],
        ['Invalid', 'Invalid value: "x": must be a y'],
        ['Invalid', 'Invalid value: 1.5: must be whole'],
        ['NotSupported', 'Unsupported value: "x": supported values: "y", "z"'],
        ['Forbidden', 'Forbidden: may not change'],
        ['Duplicate', 'Duplicate value: "x"'],
        ['NotFound', 'Not found: "x"'],
        ['TooLong', 'Too long: may not be more than 63 bytes'],
        ['TooMany', 'Too many: 3: must have at most 2 items'],
      ].map(([reason = '', message]) => ({
        ...{ field: 'a', message, reason: `FieldValue${reason}` },
      })),
    );
  });

  it('makes the refusal of a webhook list all causes, like the refusal of an invalid object by its schema', async () => {
    const cluster = await EmbeddedCluster.start({ crds: [CronTab] });
    const client = cluster.client();
    const check = validatingWebhook(CronTab, ({ object }) => {
      if (object === undefined) return allowed();
      const { schedule } = object.spec;
      return invalid(object, [
        field.invalid('spec.schedule', schedule, 'must be a cron schedule'),
        field.required('metadata.labels'),
      ]);
    });
    const served = await serveLocalWebhooks(client, [check]);
    const metadata = { name: 'bad', namespace: 'default' };
    const error = await client
      .create(CronTab.object({ metadata, spec: { schedule: 'soon' } }))
      .catch((thrown: unknown) => thrown);
    expect(isApiError(error) && error.body).to.deep.include({
      ...{ code: 422, reason: 'Invalid' },
      message:
        'admission webhook "vcrontab.example.com" denied the request: CronTab.example.com "bad" is invalid: ' +
        '[spec.schedule: Invalid value: "soon": must be a cron schedule, metadata.labels: Required value]',
      details: {
        ...{ name: 'bad', group: 'example.com', kind: 'CronTab' },
        causes: [
          field.invalid('spec.schedule', 'soon', 'must be a cron schedule'),
          field.required('metadata.labels'),
        ],
      },
    });
    await served.stop();
    await cluster.stop();
  });
});
