import type { Dispatcher } from 'undici';

/**
 * `dispatcher`, calling `beforeSend` when a connection is made, its handshake done and the turn of the
 * request come: undici writes the request into the socket right after it, in the same turn of the
 * event loop. When it throws, undici drops the request, unsent, and keeps the connection.
 */
export function askingFirst(dispatcher: Dispatcher, beforeSend: () => void): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options, asking(handler, beforeSend)),
  );
}

/** `handler`, all of whose methods are handed on one by one: undici's own have private fields. */
function asking(
  handler: Dispatcher.DispatchHandler,
  beforeSend: () => void,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => {
      beforeSend();
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart: (...start) => handler.onResponseStart?.(...start),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...failure) => handler.onResponseError?.(...failure),
  };
}
