"use strict";
// A page that is read from the disk may not start workers. There the search of the site runs in a hidden frame, which takes and
// gives messages as a worker does. The theme asks for IFrameWorker to know of it.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.started = new Promise((start) => {
        this.frame.addEventListener("load", () => start(this.start(address)), { once: true });
      });
      document.body.append(this.frame);
    }

    // The frame's window, once the worker's script has run in it.
    start(address) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      const script = inside.document.createElement("script");
      script.src = new URL(address, location.href).href;
      return new Promise((done, failed) => {
        script.addEventListener("load", () => done(inside));
        script.addEventListener("error", failed);
        inside.document.head.append(script);
      });
    }

    async postMessage(data) {
      const inside = await this.started;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
