import { Worker } from 'node:worker_threads'
import type { OpenApiReader } from '@inlay/conversations'
import { InlayError, type ErrorCode } from '@inlay/protocol'

const watchMs = 100

interface ThreadLimits {
  /** Milliseconds of one document. */
  readonly timeoutMs: number
  readonly heapMegabytes: number
}

/** Operations that share a long text repeat it, here where no limit of memory holds. */
const maxResultCharacters = 2 ** 25

// Only these cross threads, the value as a text, whose length is known before it is taken.
const script = `
const { parentPort, workerData: { module, name, source } } = require('node:worker_threads')
import(module).then((reader) => reader[name](source)).then(JSON.stringify).then(
  (value) => parentPort.postMessage(value.length > ${maxResultCharacters} ? { isTooLong: true } : { value }),
  ({ code, message, stack }) => parentPort.postMessage({ failure: { code, message, stack } }))`

/**
 * Reads OpenAPI documents in a thread of its own each, within bounds of time and memory. Undefined in a bundle without
 * the module, where they are read in this thread.
 */
export function openApiThread(
  limits: ThreadLimits = { timeoutMs: 60_000, heapMegabytes: 1_024 },
): OpenApiReader | undefined {
  let module: string
  try {
    module = import.meta.resolve('@inlay/conversations/openapi-reader')
  } catch {
    return undefined
  }
  return {
    listOperations: (source) => inThread({ module, name: 'listOperations', source }, limits),
    reduceDocument: (source) => inThread({ module, name: 'reduceDocument', source }, limits),
  }
}

interface Message {
  readonly value: string
  readonly failure?: { readonly code?: ErrorCode; readonly message: string }
  readonly isTooLong?: boolean
}

async function inThread<Result>(
  call: { readonly module: string; readonly name: keyof OpenApiReader; readonly source: unknown },
  { timeoutMs, heapMegabytes }: ThreadLimits,
): Promise<Result> {
  const worker = new Worker(script, {
    eval: true,
    name: 'inlay openapi',
    workerData: call,
    env: {},
    // From sources, workspace packages are sources as well.
    execArgv: call.module.endsWith('.ts') ? ['--conditions=@inlay/source'] : [],
    // Beyond this, a parser in native code would end the process: the watch below ends the thread long before.
    resourceLimits: { maxOldGenerationSizeMb: 3 * heapMegabytes },
  })
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const timeout = setTimeout(() => reject(tooMuch(`${timeoutMs / 1_000} s`)), timeoutMs)
  const watch = setInterval(() => {
    // Rejects when the thread has ended, which its own events report. Other runtimes may lack it.
    worker.getHeapStatistics?.().then(
      ({ used_heap_size: used }) => used > heapMegabytes * 2 ** 20 && reject(tooMuch(`${heapMegabytes} MiB`)),
      () => undefined,
    )
  }, watchMs)
  worker.on('message', ({ value, failure, isTooLong }: Message) => {
    if (isTooLong || failure?.message === 'Invalid string length') reject(tooMuch('32 MiB'))
    else if (failure?.message.startsWith('Converting circular structure'))
      reject(unusable('a part of it contains itself.'))
    else if (failure === undefined) resolve(JSON.parse(value) as Result)
    else if (failure.code === 'VALIDATION_ERROR') reject(new InlayError(failure.code, { message: failure.message }))
    else reject(new InlayError('INTERNAL_ERROR', { cause: failure }))
  })
  worker.on('error', (error: Error & { code?: string }) =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch(`${heapMegabytes} MiB`) : error),
  )
  try {
    return await promise
  } finally {
    clearTimeout(timeout)
    clearInterval(watch)
    await worker.terminate()
  }
}

const unusable = (reason: string): InlayError =>
  new InlayError('VALIDATION_ERROR', { message: `This OpenAPI document cannot be used: ${reason}` })

const tooMuch = (limit: string): InlayError =>
  unusable(`it takes more than ${limit} to read. Leave out what is not called.`)
