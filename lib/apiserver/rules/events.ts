import type { CoreV1Event } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';
import type { FieldErrors } from '../../crd/internal.js';
import { typedRules } from './kind-rules.js';
import { deepEqual, qualifiedNameProblems, subdomainProblems } from '../../object/index.js';
import type { KindRules } from './kind-rules.js';

// Events of `v1` and of `events.k8s.io/v1` are stored and validated in the form of `v1`.
type Event = Wire<CoreV1Event>;

const limits = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

const isSet = (time: string | null | undefined): boolean => time !== undefined && time !== null;

/**
 * Validates the rules that apply to events of `v1` and of `events.k8s.io/v1`.
 * @param controllerField - the API's name of the controller field.
 */
function validateLegacy(event: Event, controllerField: string, errors: FieldErrors): void {
  const { namespace = '' } = event.metadata;
  const { namespace: involved = '' } = event.involvedObject;
  const mismatch = (): void =>
    errors.invalid('involvedObject.namespace', involved, 'does not match event.namespace');
  if (!isSet(event.eventTime)) {
    const agrees = involved === '' ? ['', 'default'].includes(namespace) : involved === namespace;
    if (!agrees) mismatch();
  } else {
    if (involved === '' && !['default', 'kube-system'].includes(namespace)) mismatch();
    const { reportingComponent = '' } = event;
    if (reportingComponent === '') errors.required(controllerField);
    errors.text(controllerField, reportingComponent, qualifiedNameProblems);
    for (const [member, limit] of Object.entries(limits)) {
      const { [member as keyof typeof limits]: text = '' } = event;
      if (text === '' && member !== 'message') errors.required(member);
      if (text.length > limit) errors.invalid(member, '', `can have at most ${limit} characters`);
    }
  }
  errors.invalidEach('namespace', namespace, subdomainProblems(namespace));
}

function validateSeries({ series }: Event, errors: FieldErrors): void {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) errors.invalid('series.count', '', 'should be at least 2');
  if (!isSet(series.lastObservedTime)) errors.required('series.lastObservedTime');
}

function validateStrictCreate(event: Event, errors: FieldErrors): void {
  validateSeries(event, errors);
  if (!isSet(event.eventTime)) errors.required('eventTime');
  const { type = '', source } = event;
  if (type !== 'Normal' && type !== 'Warning') {
    errors.invalid('type', '', `has invalid value: ${type}`);
  }
  const unset = 'needs to be unset';
  if (isSet(event.firstTimestamp)) errors.invalid('firstTimestamp', '', unset);
  if (isSet(event.lastTimestamp)) errors.invalid('lastTimestamp', '', unset);
  if ((event.count ?? 0) !== 0) errors.invalid('count', '', unset);
  if ((source?.component ?? '') + (source?.host ?? '') !== '') errors.invalid('source', '', unset);
}

const fixed = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
] as const;

/** The immutable fields in which an empty string equals a missing value. */
const texts: readonly string[] = ['reason', 'type', 'action'];

function validateStrictUpdate(event: Event, old: Event, errors: FieldErrors): void {
  if (!deepEqual(event.series, old.series)) validateSeries(event, errors);
  for (const field of fixed) {
    const missing = texts.includes(field) ? '' : undefined;
    errors.immutable(field, event[field] ?? missing, old[field] ?? missing);
  }
  errors.immutable('reportingController', event.reportingComponent, old.reportingComponent);
  errors.immutable('reportingInstance', event.reportingInstance, old.reportingInstance);
}

function selectableFields(event: Event): Readonly<Record<string, string>> {
  const { reason = '', reportingComponent = '', source, type = '' } = event;
  // Field selectors are also evaluated on an empty object.
  const object = event.involvedObject as Event['involvedObject'] | undefined;
  return {
    'involvedObject.kind': object?.kind ?? '',
    'involvedObject.namespace': object?.namespace ?? '',
    'involvedObject.name': object?.name ?? '',
    'involvedObject.uid': object?.uid ?? '',
    'involvedObject.apiVersion': object?.apiVersion ?? '',
    'involvedObject.resourceVersion': object?.resourceVersion ?? '',
    'involvedObject.fieldPath': object?.fieldPath ?? '',
    reason,
    reportingComponent,
    source: source?.component ?? reportingComponent,
    type,
  };
}

const core = typedRules<Event>({
  validateCreate: (event, errors) => validateLegacy(event, 'reportingComponent', errors),
  validateUpdate: (event, _old, errors) => validateLegacy(event, 'reportingComponent', errors),
  selectableFields,
  createOnUpdate: true,
  dependents: false,
  nameFormat: 'path',
});

const events = typedRules<Event>({
  validateCreate: (event, errors) => {
    validateLegacy(event, 'reportingController', errors);
    validateStrictCreate(event, errors);
  },
  validateUpdate: (event, old, errors) => {
    validateLegacy(event, 'reportingController', errors);
    validateStrictUpdate(event, old, errors);
  },
  selectableFields: (event) => {
    const own = Object.entries(selectableFields(event)).filter(([field]) => field !== 'source');
    const regarding = own.map(([field, value]) => [
      field
        .replace('involvedObject', 'regarding')
        .replace('reportingComponent', 'reportingController'),
      value,
    ]);
    return Object.fromEntries(regarding) as Record<string, string>;
  },
  createOnUpdate: true,
  dependents: false,
});

/** The rules of events, in `v1` and in `events.k8s.io/v1`. */
export const eventRules: Readonly<Record<string, KindRules>> = {
  '/v1/Event': core,
  'events.k8s.io/v1/Event': events,
};
