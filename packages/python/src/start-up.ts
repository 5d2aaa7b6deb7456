export const workFolder = '/work'

/** Folder of wheels that are not loaded yet. */
export const wheelsFolder = '/wheels'

/**
 * Python code that runs before the first program: it disables modules that reach outside, gives asyncio a
 * self-contained event loop, and makes wheels importable. It evaluates to two functions: one runs a program and returns
 * in JSON how it ended, one cleans up.
 */
export const startUp: string = `
import ast, asyncio, asyncio.base_events, builtins, errno, gc, importlib, importlib.machinery
import inspect, json, linecache, os, random, socket, sys, time, traceback, types, zipfile

work_folder, wheels_folder, file_name = ${JSON.stringify(workFolder)}, ${JSON.stringify(wheelsFolder)}, '<program>'
shut_modules = {'js', 'pyodide_js', 'pyodide', '_pyodide', '_pyodide_core', 'micropip', 'pyodide_http'}


class ShutModules:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in shut_modules:
            raise ImportError(f'{name} is not available: programs have neither JavaScript nor a network here', name=name)


class Wheels:
    """Unpacks a wheel when something of it is imported for the first time."""

    def __init__(self, folder):
        self.folder = folder
        self.by_top = None
        self.site = next(path for path in sys.path if path.endswith('site-packages'))

    def find_spec(self, name, path=None, target=None):
        if path is not None:
            return None
        if self.by_top is None:
            self.by_top = self.read_folder()
        wheels = self.by_top.pop(name, ())
        if not wheels:
            return None
        for wheel in wheels:
            self.unpack(wheel)
        importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name)

    def read_folder(self):
        by_top = {}
        for wheel in sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else ():
            with zipfile.ZipFile(os.path.join(self.folder, wheel)) as archive:
                for top in {self.place(name).split('/')[0] for name in archive.namelist()}:
                    by_top.setdefault(top.partition('.')[0], []).append(wheel)
        return by_top

    def unpack(self, wheel):
        source = os.path.join(self.folder, wheel)
        if not os.path.exists(source):
            return
        with zipfile.ZipFile(source) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    entry.filename = self.place(entry.filename)
                    archive.extract(entry, self.site)
        os.remove(source)

    @staticmethod
    def place(name):
        first, _, rest = name.partition('/')
        if first.endswith('.data') and rest.startswith(('purelib/', 'platlib/')):
            return rest.partition('/')[2]
        return name


class Loop(asyncio.base_events.BaseEventLoop):
    """Waits by sleeping: there is nothing outside that could wake it."""

    def __init__(self):
        super().__init__()
        self._selector = self

    def select(self, timeout):
        if timeout is None:
            raise RuntimeError('Everything waits, and nothing is left that could end it.')
        if timeout > 0:
            time.sleep(timeout)
        return []

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, work, *arguments):
        future = self.create_future()
        try:
            future.set_result(work(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def shut():
    usual = [one for one in sys.meta_path if 'pyodide' not in f'{getattr(one, "__module__", "")} {type(one).__module__}']
    sys.meta_path[:] = [ShutModules(), *usual, Wheels(wheels_folder)]
    for name in list(sys.modules):
        if name.partition('.')[0] in shut_modules:
            del sys.modules[name]

    def refuse(*_, **__):
        raise PermissionError(errno.EPERM, 'programs have no network here')

    for name in ('connect', 'connect_ex', 'bind', 'listen', 'sendto'):
        setattr(socket.socket, name, refuse)
    for name in ('getaddrinfo', 'gethostbyname', 'gethostbyname_ex', 'gethostbyaddr', 'create_connection'):
        setattr(socket, name, refuse)


def set_loop():
    # Pyodide put its own in their places, which need what is shut here.
    asyncio.run = getattr(asyncio.run, '__wrapped__', asyncio.run)
    plain_sleep = getattr(time.sleep, '__wrapped__', time.sleep)

    def sleep(seconds):
        # In naps, between which an interrupt is heard.
        end = time.monotonic() + seconds
        plain_sleep(min(seconds, 0.05))
        while (left := end - time.monotonic()) > 0:
            plain_sleep(min(left, 0.05))

    time.sleep = sleep
    base = getattr(asyncio.events, '_BaseDefaultEventLoopPolicy', None) or asyncio.events.BaseDefaultEventLoopPolicy
    choose = getattr(asyncio.events, '_set_event_loop_policy', None) or asyncio.events.set_event_loop_policy
    choose(type('Policy', (base,), {'_loop_factory': Loop})())


def new_main():
    main = types.ModuleType('__main__')
    main.__dict__['__builtins__'] = builtins
    sys.modules['__main__'] = main
    return main.__dict__


def execute(source, names):
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(source, file_name, 'exec', ast.PyCF_ONLY_AST | flags)
    parts = [compile(tree, file_name, 'exec', flags)]
    if not parts[0].co_flags & inspect.CO_COROUTINE and tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Interactive(body=[tree.body.pop()])
        parts = [compile(tree, file_name, 'exec', flags), compile(last, file_name, 'single', flags)]
    for part in parts:
        if part.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(part, names))
        else:
            exec(part, names)


def report(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != file_name:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace, file=sys.__stderr__)


def run(source):
    linecache.cache[file_name] = (len(source), None, source.splitlines(True), file_name)
    exit_code, is_interrupted = 0, False
    asyncio.events._set_running_loop(None)
    try:
        execute(source, new_main())
    except SystemExit as error:
        exit_code = 0 if error.code is None else error.code if isinstance(error.code, int) else 1
        if exit_code == 1 and not isinstance(error.code, int):
            print(error.code, file=sys.__stderr__)
    except BaseException as error:
        exit_code, is_interrupted = 1, isinstance(error, KeyboardInterrupt)
        report(error)
    return json.dumps({'exitCode': exit_code, 'isInterrupted': is_interrupted})


def finish():
    # Files that were left open write their last bytes when nothing holds them any more.
    streams = [sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__]
    new_main()
    gc.collect()
    for stream in streams:
        try:
            stream.flush()
        except Exception:
            # The program closed it, or put something else in its place.
            pass


shut()
set_loop()
# Interpreters start with the same memory, but not with the same luck.
random.seed()
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(line_buffering=True, errors='backslashreplace')
os.chdir(work_folder)
sys.argv[:] = ['program.py']
(run, finish)
`
