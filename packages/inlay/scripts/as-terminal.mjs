/** Loaded into a command with `--import`: its pipes pass for a terminal, so that it draws as it does on one. */
for (const stream of [process.stdout, process.stderr])
  Object.assign(stream, {
    isTTY: true,
    columns: Number(process.env.COLUMNS),
    getColorDepth: () => 8,
    hasColors: () => true,
  })
Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin })
