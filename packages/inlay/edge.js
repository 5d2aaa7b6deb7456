// Builds for Workers and edge runtimes resolve `inlay` to this file, and stop at the sentence below. It is a relative
// path, since some bundlers leave unknown packages to the runtime.
export * from './Inlay needs files, threads and a native index: run it on Node, Bun or Deno, and import "inlay/client" here'
