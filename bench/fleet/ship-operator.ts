import type { ObjectOf } from '../../lib/crd/index.js';
import type { Builder, Operator as OperatorType, Source } from '../../lib/index.js';
import { ConfigMap, Operator, PersistentVolumeClaim, Service, StatefulSet } from '../built.js';
import { Ship } from './ship.js';

/** Options that differ between the benches of our operator. */
export interface ShipOperatorOptions {
  readonly workers: number;
  /** ConfigMaps of each Ship in addition to the one of its settings. @defaultValue 0 */
  readonly moreConfigMaps?: number;
  /** Event source that enqueues Ships without a change. */
  readonly source?: Source;
  /** Called for the result of each object in each reconcile. */
  readonly onResult?: () => void;
}

type Ship = ObjectOf<typeof Ship>;

/** Returns our operator of Ships: each gets a ConfigMap, a Service, a claim and a StatefulSet. */
export function shipOperator(options: ShipOperatorOptions): OperatorType {
  const { workers, moreConfigMaps = 0, source, onResult = () => undefined } = options;
  const operator = new Operator('bench');
  const controller = operator
    .for(Ship, { status: false })
    .owns(ConfigMap, Service, StatefulSet, PersistentVolumeClaim)
    .withOptions({ maxConcurrentReconciles: workers })
    .withBuilder({ onResult });
  const driven = source === undefined ? controller : controller.from(source);
  driven.builds(({ object, builder }) => {
    const { name = '' } = object.metadata;
    const { replicas, settings } = object.spec;
    const labels = { custom_resource: name };
    const chain = builder
      .configMap({ name, data: settings })
      .service({
        name,
        spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }], selector: labels },
      })
      .persistentVolumeClaim({
        name: `${name}-data`,
        whenOwnerDeleted: 'delete',
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      })
      .statefulSet({
        name,
        replicas,
        serviceName: name,
        selector: labels,
        podSpec: ({ envFromConfigMap }) => ({
          containers: [
            {
              name: 'app',
              image: 'nginx:1.27',
              ports: [{ name: 'http', containerPort: 8080 }],
              envFrom: [envFromConfigMap(name)],
              resources: { requests: { cpu: '10m', memory: '16Mi' } },
              volumeMounts: [{ name: 'data', mountPath: '/data' }],
            },
          ],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `${name}-data` } }],
        }),
      });
    const more = Array.from({ length: moreConfigMaps }, (_, n) => `${name}-${n}`);
    return more.reduce<Builder>(
      (all, item) => all.configMap({ name: item, data: { key: item } }),
      chain,
    );
  });
  return operator;
}
