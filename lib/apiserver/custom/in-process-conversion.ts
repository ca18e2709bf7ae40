import type { ConvertedResource } from '../../crd/internal.js';
import type { UnstructuredObject } from '../../object/index.js';
import { errorMessage } from '../../system/index.js';
import type { RequestHandler } from '../http-adapter.js';
import type { Connections, WebhookServices } from '../outside/connections.js';
import type { WebhookAddress } from '../outside/webhook-client.js';
import { jsonResponse } from '../requests/body.js';

/*
 * If the CRD of a resource names no webhook, functions of the resource convert its objects. The webhook client sends
 * its requests to Services, so the functions are registered as a Service in this namespace, which does not exist.
 */
const namespace = 'in-process-conversion';

interface ConversionReview {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly UnstructuredObject[];
  };
}

/** Returns the Services that convert the objects of resources by their functions. */
export function conversionServices(resources: readonly ConvertedResource[]): WebhookServices {
  const entries = resources.map((resource) => {
    const { group, plural } = resource;
    return [`${namespace}/${plural}.${group}`, handlerOf(resource)] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the address of the Service that converts the objects of a CRD; undefined if the CRD's resource has no
 * functions.
 */
export function conversionAddress(
  connections: Connections,
  definition: string,
): WebhookAddress | undefined {
  const isServed = connections.target(namespace, definition) !== undefined;
  return isServed ? { service: { namespace, name: definition } } : undefined;
}

function handlerOf(resource: ConvertedResource): RequestHandler {
  return ({ body }) => {
    const { apiVersion, request } = JSON.parse(String(body)) as ConversionReview;
    const response = { uid: request.uid, ...converted(resource, request) };
    return Promise.resolve(jsonResponse(200, { apiVersion, kind: 'ConversionReview', response }));
  };
}

function converted(
  resource: ConvertedResource,
  { objects, desiredAPIVersion }: ConversionReview['request'],
): object {
  try {
    const convertedObjects = objects.map((object) => resource.convert(object, desiredAPIVersion));
    return { result: { status: 'Success' }, convertedObjects };
  } catch (error) {
    return { result: { status: 'Failure', message: errorMessage(error) } };
  }
}
